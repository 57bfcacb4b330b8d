import { encodeQuery, hexOf } from '@weir/dns-wire/testing';
import { domainRule, loopback, profile } from '@weir/policy-feed/testing';
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { askUdp } from '../testing/client.js';
import { activateCatalogue, useResolverEnvironment } from '../testing/resolver-environment.js';
import { startResolverProcess } from '../testing/resolver-process.js';

const PAGE = 'c0000250';
const hook = (name: string): string =>
  `--import ${new URL(`../testing/${name}.mjs`, import.meta.url).pathname}`;

const environment = useResolverEnvironment();

function run(variables: Readonly<Record<string, string>>) {
  const started = startResolverProcess({
    ...environment.variables,
    UPSTREAMS: `127.0.0.1:${environment.upstream.endpoint.port}`,
    BLOCK_PAGE_IPV4: '192.0.2.80',
    RESOLVER_THREADS: '1',
    ...variables,
  });
  environment.cleanups.push(() => started.child.kill('SIGKILL'));
  return started;
}

async function start(variables: Readonly<Record<string, string>>) {
  const { plane } = environment;
  await plane.commit(
    profile(1),
    loopback(1),
    domainRule(1, 'deny', 'blocked.example'),
    activateCatalogue(plane),
  );
  const started = run(variables);
  const { dns, opsPort } = await started.ready();
  const ask = async () => {
    const answer = await askUdp(dns, encodeQuery('www.blocked.example', 1));
    return answer && hexOf(answer.subarray(-4));
  };
  const read = async (path: string): Promise<string> =>
    (await fetch(`http://127.0.0.1:${opsPort}${path}`)).text();
  return { ...started, dns, ask, read };
}

/** Seconds of processor time that the busiest thread of a process has used. */
function busiestSeconds(pid: number): number {
  const tasks = readdirSync(`/proc/${pid}/task`);
  return Math.max(
    ...tasks.map((task) => {
      const stat = readFileSync(`/proc/${pid}/task/${task}/stat`, 'latin1');
      const columns = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
      return (Number(columns[11]) + Number(columns[12])) / 100;
    }),
  );
}

describe('a sandbox that refuses batches of datagrams', () => {
  it.each([
    [1, 'EPERM'],
    [38, 'ENOSYS'],
  ])('(errno %i) is noticed at the start', async (errno, name) => {
    const { output, exited } = run({
      NODE_OPTIONS: hook('refused-calls'),
      REFUSED_WITH: String(errno),
    });
    expect(await exited).toBe(1);
    expect(output.errors).toBe(
      `resolver: a resolver needs Linux on x64 or arm64, with recvmmsg: recvmmsg: ${name}\n`,
    );
  });
});

describe('a lane that cannot receive any more', () => {
  it('says so, uses hardly any processor time, and ends the process with a clear error', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'weir-lane-faults-'));
    environment.cleanups.push(() => {
      rmSync(folder, { recursive: true });
    });
    const BROKEN_PORT_FILE = join(folder, 'port');
    const { child, dns, ask, read, output, exited } = await start({
      NODE_OPTIONS: hook('broken-socket'),
      BROKEN_PORT_FILE,
    });
    expect(await ask()).toBe(PAGE);
    writeFileSync(BROKEN_PORT_FILE, String(dns.port));
    const before = busiestSeconds(child.pid!);
    child.kill('SIGUSR2');
    await expect.poll(() => read('/readyz')).toContain('lane 0 cannot receive queries (recvmmsg: ');
    expect(await read('/metrics')).toMatch(
      /^weir_resolver_lane_receive_errors_total\{lane="0"\} [1-9]/m,
    );
    await expect.poll(() => output.text).toContain('a thread for UDP cannot receive');
    expect(busiestSeconds(child.pid!) - before).toBeLessThan(1);
    expect(await exited).toBe(1);
    expect(output.text + output.errors).toContain('recvmmsg: ENOTSOCK');
  });
});
