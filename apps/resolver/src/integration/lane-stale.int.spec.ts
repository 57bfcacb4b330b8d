import { decodeMessage, encodeQuery } from '@weir/dns-wire/testing';
import { loopback, profile } from '@weir/policy-feed/testing';
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

  it('forwards what the cache does not have, and gets new answers for what has expired', async () => {
    const { dns, ask, goOn } = await start();
    await expect.poll(() => ask(2_000)).toMatchObject({ answers: [{ ttl: TTL }], ede: [] });
    for (let n = 0; n < 100; n++) {
      const answer = await askUdp(dns, query(`n${n}.example.net`, n), 10_000);
      expect(decodeMessage(answer!)).toMatchObject({ id: n, answers: [{ ttl: TTL }] });
    }
    goOn();
  });

  it('serves expired answers when no upstream answers (RFC 8767 §5)', async () => {
    const { ask, goOn } = await start();
    environment.upstream.answer = () => null;
    await expect.poll(() => ask(10_000)).toMatchObject(STALE);
    goOn();
  });
});
