import { encodeQuery } from '@weir/dns-wire/testing';
import { makeCertificate } from '@weir/ops/testing';
import { domainRule, loopback, profile } from '@weir/policy-feed/testing';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Worker } from 'node:worker_threads';
import { describe, expect, it } from 'vitest';
import { askUdp, type Server } from '../testing/client.js';
import type { LaneClient } from '../testing/lane-client-worker.js';
import { BLOCKED, PERMITTED } from '../testing/lane-service.js';
import { useResolverEnvironment } from '../testing/resolver-environment.js';
import { startResolverProcess } from '../testing/resolver-process.js';
import { openTls } from '../testing/secure-clients.js';
import { readLosses } from '../testing/soak/memory.js';

/** Answers from memory that a client gets while other threads have much to do. */
const ANSWERS = 900;
const RULES = 100_000;
const HANDSHAKES = 64;
const CONFIGURED = [profile(1), loopback(1), domainRule(1, 'deny', 'blocked.example')];

/** A client in a thread of its own, which asks without a pause. */
function startClient({ address, port }: Server) {
  const words = new Int32Array(new SharedArrayBuffer(12));
  const workerData: LaneClient = {
    address,
    port,
    queries: [
      ['www.blocked.example', BLOCKED],
      ['www.example.com', PERMITTED],
    ].map(([name, end]) => ({ packet: encodeQuery(name, 1), end: Buffer.from(end, 'hex') })),
    rounds: ANSWERS / 2,
    words,
  };
  const client = new Worker(new URL('../testing/lane-client-worker.ts', import.meta.url), {
    workerData,
    execArgv: [],
  });
  return {
    ended: new Promise((resolve) => client.once('exit', resolve)),
    begin: () => {
      Atomics.store(words, 0, 1);
      Atomics.notify(words, 0);
    },
    isDone: () => words[1] + words[2] === ANSWERS,
    right: () => words[1],
  };
}

const metric = async (opsPort: number, name: string): Promise<number> => {
  const text = await (await fetch(`http://127.0.0.1:${opsPort}/metrics`)).text();
  return Number(new RegExp(`^weir_resolver_${name} (\\d+)$`, 'm').exec(text)?.[1]);
};

describe('queries that memory can answer are answered by a lane', () => {
  const environment = useResolverEnvironment();
  async function start() {
    await environment.plane.commit(...CONFIGURED);
    const folder = mkdtempSync(join(tmpdir(), 'weir-stalls-'));
    environment.cleanups.push(() => {
      rmSync(folder, { recursive: true });
    });
    const [DNS_TLS_CERT, DNS_TLS_KEY] = [join(folder, 'dns.crt'), join(folder, 'dns.key')];
    makeCertificate(DNS_TLS_CERT, DNS_TLS_KEY);
    const { child, ready } = startResolverProcess({
      ...environment.variables,
      UPSTREAMS: `127.0.0.1:${environment.upstream.endpoint.port}`,
      BLOCK_PAGE_IPV4: '192.0.2.80',
      RESOLVER_THREADS: '1',
      DNS_TLS_PORT: '0',
      DNS_TLS_CERT,
      DNS_TLS_KEY,
      CLIENT_TLS_HANDSHAKE_RATE: '0',
    });
    environment.cleanups.push(() => child.kill('SIGKILL'));
    const { dns, opsPort } = await ready();
    // Now it is in the cache.
    expect(await askUdp(dns, encodeQuery('www.example.com', 1))).not.toBeNull();
    return { dns, opsPort };
  }

  /** Keeps another thread busy until the client has all its answers. */
  async function expectAnswersWhile(
    { dns, opsPort }: Awaited<ReturnType<typeof start>>,
    keepBusy: () => Promise<unknown>,
  ): Promise<void> {
    const client = startClient(dns);
    const before = await metric(opsPort, 'lane_answers_total{lane="0"}');
    let busy = keepBusy();
    client.begin();
    while (!client.isDone()) {
      await busy;
      busy = keepBusy();
    }
    await busy;
    expect(client.right()).toBe(ANSWERS);
    // The client asks again after a stall.
    const answers = (await metric(opsPort, 'lane_answers_total{lane="0"}')) - before;
    expect(answers).toBeGreaterThanOrEqual(ANSWERS);
    expect(await readLosses(opsPort)).toBe('none');
    await client.ended;
  }

  it('while the main thread does TLS handshakes', async () => {
    const resolver = await start();
    const handshake = () =>
      new Promise<void>((resolve, reject) => {
        const socket = openTls(resolver.dns.tlsPort);
        socket
          .once('secureConnect', () => socket.destroy())
          .once('close', () => {
            resolve();
          });
        socket.once('error', reject);
      });
    await expectAnswersWhile(resolver, () =>
      Promise.all(Array.from({ length: HANDSHAKES }, handshake)),
    );
  });

  it('while the feed applies a change of 100,000 rules', async () => {
    const resolver = await start();
    let isDenied = false;
    await expectAnswersWhile(resolver, () => {
      isDenied = !isDenied;
      const type = isDenied ? 'deny' : 'allow';
      const rules = Array.from({ length: RULES }, (_, i) => domainRule(1, type, `n${i}.example`));
      return environment.plane.commit(...rules);
    });
  });

  it('while the feed loads a snapshot of 100,000 rules', async () => {
    const resolver = await start();
    const rules = Array.from({ length: RULES }, (_, i) => domainRule(1, 'deny', `n${i}.example`));
    await expectAnswersWhile(resolver, () => environment.plane.replace(...CONFIGURED, ...rules));
  });
});
