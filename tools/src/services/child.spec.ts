import { execFileSync } from 'node:child_process';
import { createSocket } from 'node:dgram';
import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { createServer, type AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, it, vi } from 'vitest';
import { describeExit, startChild } from './child.js';
import { checkPortsFree, checkReachable, freePort } from './ports.js';

const folder = mkdtempSync(join(tmpdir(), 'weir-child-'));
afterAll(() => {
  rmSync(folder, { recursive: true });
});
const run = (script: string, logFile = join(folder, 'example.log')) =>
  startChild({
    name: 'example',
    command: process.execPath,
    args: ['-e', script],
    env: process.env,
    logFile,
  });

describe('startChild', () => {
  it('keeps the last lines and the exit code, and the whole output in the log file', async () => {
    const child = run(
      'for (let i = 0; i < 40; i++) console.log(`line ${i}`); console.error("the end"); process.exitCode = 3',
    );
    const ending = await child.exited;
    expect(describeExit(ending)).toBe('exit code 3');
    expect(child.lastLines()).toHaveLength(15);
    expect(child.lastLines()).toContain('line 39');
    expect(readFileSync(join(folder, 'example.log'), 'utf8')).toContain('line 0\n');
  });

  it('has not exited before its output is in the log file', async () => {
    // Nothing can be written to a pipe before somebody reads it.
    const pipe = join(folder, 'pipe');
    execFileSync('mkfifo', [pipe]);
    const child = run('console.log("the end")', pipe);
    const hasExited = vi.fn();
    void child.exited.then(hasExited);
    await expect.poll(() => child.lastLines()).toEqual(['the end']);
    await expect.poll(() => existsSync(`/proc/${child.pid}`)).toBe(false);
    // Its end and that of its pipes are different events.
    for (let turns = 0; turns < 1000; turns++) await new Promise(setImmediate);
    expect(hasExited).not.toHaveBeenCalled();
    expect(await readFile(pipe, 'utf8')).toBe('the end\n');
    expect(await child.exited).toEqual({ code: 0 });
  });

  it('reports the signal that killed the child', async () => {
    expect(describeExit(await run('process.kill(process.pid, "SIGKILL")').exited)).toBe(
      'killed by SIGKILL',
    );
  });

  it('kills a child that does not stop in time', async () => {
    const child = run(
      'process.on("SIGTERM", () => {}); console.log("up"); setInterval(() => {}, 1000)',
    );
    while (child.lastLines().length === 0) await new Promise((resolve) => setTimeout(resolve, 10));
    expect(await child.stop('SIGTERM', 100)).toEqual({ signal: 'SIGKILL' });
  });

  it('exits with an explanation when the command does not exist', async () => {
    const child = startChild({
      name: 'none',
      command: '/no/such/command',
      args: [],
      env: {},
      logFile: join(folder, 'none.log'),
      prefix: [],
    });
    expect(await child.exited).toEqual({ code: 127 });
    expect(child.lastLines().join()).toContain('cannot start /no/such/command');
  });
});

describe('checkPortsFree', () => {
  const host = '127.0.0.1';

  it('accepts free ports', async () => {
    const port = await freePort();
    await checkPortsFree([
      { host, port, protocol: 'tcp', variable: 'MANAGEMENT_PORT', hostVariable: 'MANAGEMENT_HOST' },
      { host, port, protocol: 'udp', variable: 'DNS_PORT', hostVariable: 'DNS_HOST' },
    ]);
  });

  it('names both variables when they give the same port', async () => {
    const port = await freePort();
    const tcp = { host, port, protocol: 'tcp', hostVariable: 'MANAGEMENT_HOST' } as const;
    await expect(
      checkPortsFree([
        { ...tcp, variable: 'MANAGEMENT_PORT' },
        { ...tcp, variable: 'FEED_PORT' },
      ]),
    ).rejects.toThrow(`MANAGEMENT_PORT and FEED_PORT both come to TCP port ${port}`);
  });

  it('accepts one port on several addresses, but not beside all addresses', async () => {
    const port = await freePort();
    const dns = { port, protocol: 'udp', variable: 'DNS_PORT', hostVariable: 'DNS_HOST' } as const;
    const on = (...hosts: string[]) => checkPortsFree(hosts.map((host) => ({ ...dns, host })));
    await on('127.0.0.1', '127.0.0.2', '::1');
    await on('0.0.0.0', '::');
    await expect(on('127.0.0.2', '0.0.0.0')).rejects.toThrow(`come to UDP port ${port}`);
    await expect(on('::', '::1')).rejects.toThrow(`come to UDP port ${port}`);
  });

  it('names the variable when the address does not belong to this machine', async () => {
    const elsewhere = {
      host: '192.0.2.1',
      port: 5300,
      protocol: 'udp',
      variable: 'DNS_PORT',
    } as const;
    await expect(checkPortsFree([{ ...elsewhere, hostVariable: 'DNS_HOST' }])).rejects.toThrow(
      '192.0.2.1 is not an address of this machine; set DNS_HOST to one',
    );
  });

  it('names a TCP port that is in use, and its variable', async () => {
    const server = createServer();
    await new Promise<void>((resolve) => server.listen(0, host, resolve));
    const { port } = server.address() as AddressInfo;
    await expect(
      checkPortsFree([
        {
          host,
          port,
          protocol: 'tcp',
          variable: 'MANAGEMENT_PORT',
          hostVariable: 'MANAGEMENT_HOST',
        },
      ]),
    ).rejects.toThrow(
      `TCP port 127.0.0.1:${port} is in use by another process; set MANAGEMENT_PORT to another`,
    );
    server.close();
  });

  it('names a UDP port that is in use, and its variable', async () => {
    const socket = createSocket('udp4');
    await new Promise<void>((resolve) => socket.bind(0, host, resolve));
    const { port } = socket.address();
    await expect(
      checkPortsFree([
        { host, port, protocol: 'udp', variable: 'DNS_PORT', hostVariable: 'DNS_HOST' },
      ]),
    ).rejects.toThrow(
      `UDP port 127.0.0.1:${port} is in use by another process; set DNS_PORT to another`,
    );
    socket.close();
  });
});

describe('checkReachable', () => {
  it('names the variable when nothing answers at the URL', async () => {
    const port = await freePort();
    await expect(checkReachable(`redis://:secret@127.0.0.1:${port}`, 'REDIS_URL')).rejects.toThrow(
      `nothing answers at 127.0.0.1:${port} (REDIS_URL): ECONNREFUSED`,
    );
  });
});
