import { decodeMessage, encodeQuery } from '@weir/dns-wire/testing';
import { loopback, profile } from '@weir/policy-feed/testing';
import { createSocket } from 'node:dgram';
import { existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { describe, expect, it } from 'vitest';
import { a } from '../query/testing/records.js';
import { askUdp } from '../testing/client.js';
import { activateCatalogue, useResolverEnvironment } from '../testing/resolver-environment.js';
import { startResolverProcess } from '../testing/resolver-process.js';
import { respond } from '../testing/respond.js';

const HOOK = new URL('../testing/stalled-thread.mjs', import.meta.url).pathname;
const NAME = 'www.example.com';
const TTL = 1;
const STALE = { rcode: 0, answers: [{ ttl: 30 }], ede: [3] };
/** More than the ring has room for. */
const MANY = 9_000;
const PIECE = 500;

const query = (name: string, id: number) => encodeQuery(name, 1, { id, udpBytes: 1232 });

describe('while the main thread does nothing, a lane', () => {
  const environment = useResolverEnvironment();
  /** The main thread does nothing, and the cached answer has expired. */
  async function start(variables: Readonly<Record<string, string>> = {}) {
    const { plane, upstream } = environment;
    await plane.commit(profile(1), loopback(1), activateCatalogue(plane));
    upstream.answer = (asked) => respond(asked, { answers: [a('192.0.2.1', TTL)] });
    const folder = mkdtempSync(join(tmpdir(), 'weir-lane-stale-'));
    environment.cleanups.push(() => {
      rmSync(folder, { recursive: true });
    });
    const STALL_FILE = join(folder, 'stall');
    const { child, ready } = startResolverProcess({
      ...environment.variables,
      UPSTREAMS: `127.0.0.1:${upstream.endpoint.port}`,
      RESOLVER_THREADS: '1',
      CLIENT_QUERY_RATE: '0',
      NODE_OPTIONS: `--import ${HOOK}`,
      STALL_THREAD: '',
      STALL_FILE,
      ...variables,
    });
    environment.cleanups.push(() => child.kill('SIGKILL'));
    const { dns } = await ready();
    const ask = async (timeoutMs: number) => {
      const answer = await askUdp(dns, query(NAME, 1), timeoutMs);
      return answer && decodeMessage(answer);
    };
    expect(await ask(60_000)).toMatchObject({ answers: [{ ttl: TTL }] });
    await sleep((TTL + 1) * 1000);
    writeFileSync(STALL_FILE, '');
    child.kill('SIGUSR2');
    await expect.poll(() => existsSync(`${STALL_FILE}.stalled`)).toBe(true);
    const goOn = () => {
      rmSync(STALL_FILE);
    };
    return { dns, ask, goOn };
  }

  it('serves expired answers after as long as clients wait for new ones (RFC 8767 §5)', async () => {
    const { ask, goOn } = await start();
    await expect.poll(() => ask(500)).toMatchObject(STALE);
    goOn();
    // What was handed over meanwhile brings the new one.
    await expect.poll(() => ask(2_000)).toMatchObject({ answers: [{ ttl: TTL }], ede: [] });
  });

  it('serves expired answers at once when it can hand nothing over, and SERVFAIL without one', async () => {
    const { dns, ask } = await start({ CACHE_STALE_AFTER_MS: '3000' });
    const socket = createSocket('udp4');
    environment.cleanups.push(() => socket.close());
    let refused = 0;
    socket.on('message', (answer) => {
      if (decodeMessage(answer).rcode === 2) refused++;
    });
    for (let sent = 0; sent < MANY; sent += PIECE) {
      for (let i = 0; i < PIECE; i++) {
        socket.send(query(`n${sent + i}.example.net`, 1), dns.port, dns.address);
      }
      await sleep(20);
    }
    await expect.poll(() => refused).toBeGreaterThan(0);
    // The kernel may have dropped a query behind so many.
    await expect.poll(() => ask(500)).toMatchObject(STALE);
  });
});
