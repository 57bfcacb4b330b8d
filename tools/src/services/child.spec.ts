import { freePort } from '@weir/ops/testing';
import { execFileSync } from 'node:child_process';
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { open } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, it, vi } from 'vitest';
import { describeExit, startChild } from './child.js';
import { checkReachable } from './ports.js';

const folder = mkdtempSync(join(tmpdir(), 'weir-child-'));
afterAll(() => {
  rmSync(folder, { recursive: true });
});
const run = (script: string, logFile = join(folder, 'example.log')) =>
  startChild({
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
    // Also open for writing, so that the pipe does not end between two writes.
    await using reader = await open(pipe, 'r+');
    const { buffer, bytesRead } = await reader.read();
    expect(buffer.toString('utf8', 0, bytesRead)).toBe('the end\n');
    expect(await child.exited).toEqual({ code: 0 });
  });

  it('makes the log file of a child that prints nothing, or tells why it cannot', async () => {
    const silent = run('', join(folder, 'silent'));
    await silent.exited;
    expect([readFileSync(join(folder, 'silent'), 'utf8'), silent.lastLines()]).toEqual(['', []]);
    const lost = run('', join(folder, 'no-folder', 'log'));
    await lost.exited;
    expect(lost.lastLines().join()).toContain('log cannot be written: ENOENT');
  });

  it('goes on with the log file when it can be written again', async () => {
    const later = join(folder, 'later');
    const child = run('setInterval(() => console.log("a line"), 50)', join(later, 'log'));
    await expect.poll(() => child.lastLines().join()).toContain('log cannot be written: ENOENT');
    mkdirSync(later);
    await expect
      .poll(() => existsSync(join(later, 'log')) && readFileSync(join(later, 'log'), 'utf8'), {
        timeout: 5_000,
      })
      .toContain('a line\na line\n');
    await child.stop();
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

describe('checkReachable', () => {
  it('names the variable when nothing answers at the URL', async () => {
    const port = await freePort();
    await expect(checkReachable(`redis://:secret@127.0.0.1:${port}`, 'REDIS_URL')).rejects.toThrow(
      `nothing answers at 127.0.0.1:${port} (REDIS_URL): ECONNREFUSED`,
    );
  });
});
