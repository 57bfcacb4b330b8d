import { compileCatalogue, NameList } from '@weir/catalogue';
import { parseHashKey } from '@weir/dns-name';
import { decodeMessage, encodeQuery, hexOf } from '@weir/dns-wire/testing';
import { needsThat } from '@weir/ops/testing';
import { domainRule, HASH_KEY_HEX, loopback, profile, put } from '@weir/policy-feed/testing';
import { afterAll, describe, expect, it } from 'vitest';
import { askUdp, type Server } from '../testing/client.js';
import { FreezableVolume } from '../testing/frozen-volume.js';
import { activateCatalogue, useResolverEnvironment } from '../testing/resolver-environment.js';
import { startResolverProcess } from '../testing/resolver-process.js';

const PAGE = 'c0000250';

const volume = FreezableVolume.mount();
const NEEDS_VOLUME = needsThat(volume !== null, 'the right to mount a file system');

describe('a resolver whose volume hangs', NEEDS_VOLUME, () => {
  const environment = useResolverEnvironment();
  afterAll(() => {
    volume?.remove();
  });

  const start = (variables: Record<string, string> = {}) => {
    const process = startResolverProcess({
      ...environment.variables,
      UPSTREAMS: `127.0.0.1:${environment.upstream.endpoint.port}`,
      BLOCK_PAGE_IPV4: '192.0.2.80',
      CATCH_UP_GRACE_MS: '0',
      DATA_DIR: volume!.folder,
      ...variables,
    });
    environment.cleanups.push(() => {
      volume?.thaw();
      process.child.kill('SIGKILL');
    });
    return process;
  };
  const isBlocked = async (server: Server, name: string) => {
    const answer = await askUdp(server, encodeQuery(name, 1));
    if (answer === null) throw new Error(`no answer for ${name}`);
    return decodeMessage(answer).answers.some(({ rdata }) => hexOf(rdata) === PAGE);
  };
  const ops = async (port: number, path: string) =>
    (await fetch(`http://127.0.0.1:${port}${path}`)).text();
  /** Asks one query after another. `stop` resolves to the number of those with an answer, and of those without. */
  const keepAsking = (server: Server) => {
    const counts = { answered: 0, lost: 0 };
    let isStopped = false;
    const asking = (async () => {
      while (!isStopped) {
        const answer = await askUdp(server, encodeQuery('www.example.com', 1));
        counts[answer === null ? 'lost' : 'answered']++;
      }
    })();
    const stop = async () => {
      isStopped = true;
      await asking;
      return counts;
    };
    return { stop };
  };

  it('answers every query and obeys every change meanwhile, and has everything on disk afterwards', async () => {
    const { plane } = environment;
    await plane.commit(profile(1, { categoryIds: [12] }), loopback(1), activateCatalogue(plane));
    const first = start();
    const { dns: server, opsPort } = await first.ready();
    await expect.poll(() => ops(opsPort, '/readyz')).toBe('ok\n');
    const asked = keepAsking(server);

    expect(volume!.freeze()).toBe(true);
    for (let i = 0; i < 5; i++) {
      const applied = await plane.commit(domainRule(1, 'deny', `n${i}.example`));
      expect(applied).toEqual({ applied: 1, total: 1 });
      expect(await isBlocked(server, `n${i}.example`)).toBe(true);
    }
    await expect
      .poll(() => ops(opsPort, '/readyz'))
      .toBe(
        'ok\ndegraded: the configuration in force is not on disk: the disk fails, or does not answer\n',
      );
    expect(await ops(opsPort, '/metrics')).toMatch(/^weir_resolver_disk_current 0$/m);

    // Its image can be neither read from this volume nor written to it.
    const key = parseHashKey(HASH_KEY_HEX);
    const gambling = { id: 12, name: 'Gambling', lists: [NameList.of(['bet.example'], key)] };
    const { image, sha256 } = compileCatalogue({ categories: [gambling], applications: [] }, key);
    plane.images.set(sha256, image);
    await plane.commit(put('catalogue', { version: 2, sha256, sizeBytes: image.length }));
    await expect.poll(() => isBlocked(server, 'bet.example')).toBe(true);
    await plane.commit(domainRule(1, 'deny', 'late.example'));
    expect(await isBlocked(server, 'late.example')).toBe(true);

    expect(volume!.thaw()).toBe(true);
    await expect.poll(() => ops(opsPort, '/readyz')).toBe('ok\n');
    expect(await ops(opsPort, '/metrics')).toMatch(/^weir_resolver_disk_current 1$/m);
    const { answered, lost } = await asked.stop();
    expect(answered).toBeGreaterThan(0);
    expect(lost).toBe(0);
    first.child.kill('SIGKILL');
    await first.exited;

    const again = start({ REDIS_URL: 'redis://127.0.0.1:1', FEED_URL: 'http://127.0.0.1:2' });
    await expect.poll(() => again.output.text).toContain('listening');
    const listening = again.output.text.split('\n').find((line) => line.includes('listening'));
    const { dns, opsPort: port } = JSON.parse(listening!) as { dns: Server; opsPort: number };
    // The image of the catalogue is read from the disk after the snapshot.
    await expect.poll(() => ops(port, '/readyz')).toMatch(/^ok\n/);
    for (const name of ['n0.example', 'n4.example', 'late.example']) {
      expect(await isBlocked(dns, name)).toBe(true);
    }
  });
});
