import { decodeMessage, encodeQuery, hexOf } from '@weir/dns-wire/testing';
import { makeCertificate } from '@weir/ops/testing';
import { domainRule, loopback, profile } from '@weir/policy-feed/testing';
import { existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { askOneTcp, askUdp } from '../testing/client.js';
import { activateCatalogue, useResolverEnvironment } from '../testing/resolver-environment.js';
import { startResolverProcess } from '../testing/resolver-process.js';
import { SECURE_QUERIES } from '../testing/secure-clients.js';

const HOOK = new URL('../testing/stalled-thread.mjs', import.meta.url).pathname;
const PAGE = 'c0000250';
const PERMITTED = 'c0000201';
const CHANGES = 5;

const query = (name: string): Uint8Array => encodeQuery(name, 1);
const lastBytes = (answer: Uint8Array | null): string => hexOf(answer!.subarray(-4));

describe('the feed has a thread of its own', () => {
  const environment = useResolverEnvironment();
  /** A resolver, one of whose threads does nothing from `stall` to `goOn`. */
  async function start(thread: 'main' | 'feed', inChange?: 'stall' | 'end') {
    const { plane } = environment;
    await plane.commit(
      profile(1),
      loopback(1),
      domainRule(1, 'deny', 'blocked.example'),
      activateCatalogue(plane),
    );
    const folder = mkdtempSync(join(tmpdir(), 'weir-feed-stalls-'));
    environment.cleanups.push(() => {
      rmSync(folder, { recursive: true });
    });
    const [DNS_TLS_CERT, DNS_TLS_KEY] = [join(folder, 'dns.crt'), join(folder, 'dns.key')];
    makeCertificate(DNS_TLS_CERT, DNS_TLS_KEY);
    const STALL_FILE = join(folder, 'stall');
    const { child, ready, output, exited } = startResolverProcess({
      ...environment.variables,
      UPSTREAMS: `127.0.0.1:${environment.upstream.endpoint.port}`,
      BLOCK_PAGE_IPV4: '192.0.2.80',
      RESOLVER_THREADS: '1',
      DNS_TLS_PORT: '0',
      DNS_HTTPS_PORT: '0',
      DNS_TLS_CERT,
      DNS_TLS_KEY,
      NODE_OPTIONS: `--import ${HOOK}`,
      STALL_THREAD: thread === 'main' ? '' : thread,
      STALL_FILE,
      ...(inChange && { STALL_IN_CHANGE: inChange }),
    });
    environment.cleanups.push(() => child.kill('SIGKILL'));
    const { dns, opsPort } = await ready();
    const fail = () => child.kill('SIGUSR2');
    const stall = async () => {
      writeFileSync(STALL_FILE, '');
      child.kill('SIGUSR2');
      await expect.poll(() => existsSync(`${STALL_FILE}.stalled`)).toBe(true);
    };
    const stallInChange = () => {
      writeFileSync(STALL_FILE, '');
      child.kill('SIGUSR2');
    };
    const goOn = () => {
      rmSync(STALL_FILE);
    };
    return { dns, opsPort, stall, stallInChange, goOn, fail, output, exited };
  }

  it('so changes are in force and acknowledged while the main thread is busy', async () => {
    const { plane } = environment;
    const { dns, opsPort, stall, goOn } = await start('main');
    await stall();
    for (let i = 0; i < CHANGES; i++) {
      const applied = await plane.commit(domainRule(1, 'deny', `n${i}.example`));
      expect(applied).toEqual({ applied: 1, total: 1 });
      expect(lastBytes(await askUdp(dns, query(`n${i}.example`)))).toBe(PAGE);
    }
    // It would answer otherwise.
    const overTcp = askOneTcp(dns, query(`n${CHANGES - 1}.example`));
    expect(await Promise.race([overTcp, plane.commit(profile(2))])).toEqual({
      applied: 1,
      total: 1,
    });
    goOn();
    expect(lastBytes(await overTcp)).toBe(PAGE);
    const metrics = async () => (await fetch(`http://127.0.0.1:${opsPort}/metrics`)).text();
    await expect.poll(metrics).toContain(`\nweir_resolver_revision ${CHANGES + 2}\n`);
  });

  it('so all transports answer, from memory and from upstream, while it does nothing', async () => {
    const { plane } = environment;
    const { dns, opsPort, stall, goOn } = await start('feed');
    await stall();
    const change = plane.commit(domainRule(1, 'deny', 'late.example'));
    for (const [i, ask] of SECURE_QUERIES.entries()) {
      expect(lastBytes(await ask(dns, query('www.blocked.example')))).toBe(PAGE);
      expect(lastBytes(await ask(dns, query(`s${i}.example`)))).toBe(PERMITTED);
    }
    for (const ask of [askUdp, askOneTcp]) {
      expect(lastBytes(await ask(dns, query('www.blocked.example')))).toBe(PAGE);
      expect(lastBytes(await ask(dns, query(`${ask.name}.example`)))).toBe(PERMITTED);
      expect(decodeMessage((await ask(dns, query('late.example')))!).rcode).toBe(0);
    }
    expect(lastBytes(await askUdp(dns, query('late.example')))).toBe(PERMITTED);
    expect(await (await fetch(`http://127.0.0.1:${opsPort}/readyz`)).text()).toMatch(/^ok\n/);
    goOn();
    // After some seconds the control plane does not wait for a resolver that says nothing.
    await change;
    await expect.poll(async () => lastBytes(await askUdp(dns, query('late.example')))).toBe(PAGE);
  });

  it('with which the resolver ends: its policy would become old', async () => {
    const { fail, output, exited } = await start('feed');
    fail();
    expect(await exited).toBe(1);
    expect(output.errors).toContain(
      'resolver: Error: the thread of the feed ended: Error: a defect',
    );
    expect(output.text).toContain('"msg":"the thread of the feed ended, and the resolver with it"');
  });

  it.each([
    ['stalls', 'stall'],
    ['ends', 'end'],
  ] as const)(
    'with which the resolver ends when it %s in the middle of a change',
    async (_, inChange) => {
      const { plane } = environment;
      const { stallInChange, output, exited } = await start('feed', inChange);
      stallInChange();
      // The order reaches the thread before the change does, or the next one meets it.
      const changing = setInterval(() => void plane.commit(profile(2)), 200);
      environment.cleanups.push(() => {
        clearInterval(changing);
      });
      expect(await exited).toBe(1);
      expect(output.text).toMatch(
        /"msg":"the thread of the feed (is stuck in a change; the resolver ends|ended, and the resolver with it)"/,
      );
    },
  );

  it('whose faulty files end the start with one line', async () => {
    const { output, exited } = startResolverProcess({
      ...environment.variables,
      UPSTREAMS: `127.0.0.1:${environment.upstream.endpoint.port}`,
      RESOLVER_THREADS: '1',
      FEED_TOKENS_FILE: '/nowhere/tokens',
    });
    expect(await exited).toBe(1);
    expect(output.errors).toMatch(/^resolver: FEED_TOKENS_FILE[^\n]*\n$/);
  });
});
