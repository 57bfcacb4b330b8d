import { FeedClient } from '@weir/change-feed';
import { openTlsAgent } from '@weir/ops';
import { registerFeedFileMetrics } from '@weir/ops/metrics';
import { makeAuthority, makeCertificate, signCertificate } from '@weir/ops/testing';
import { createHash, X509Certificate } from 'node:crypto';
import { copyFileSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Registry } from 'prom-client';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { ControlPlane } from '../control-plane.js';
import { FEED_TOKEN, type Harness, startHarness } from '../testing/harness.js';

const log = { info: () => undefined, warn: () => undefined };
const folder = mkdtempSync(join(tmpdir(), 'weir-feed-tls-'));
const file = (name: string) => join(folder, name);
const pinOf = (name: string) => {
  const { publicKey } = new X509Certificate(readFileSync(file(name)));
  const key = publicKey.export({ type: 'spki', format: 'der' });
  return `sha256/${createHash('sha256').update(key).digest('base64')}`;
};

describe('the feed over TLS', () => {
  let harness: Harness;
  let replica: ControlPlane;
  const use = (name: string) => {
    copyFileSync(file(`${name}.crt`), file('live.crt'));
    copyFileSync(file(`${name}.key`), file('live.key'));
  };
  /** The head of the log, as a follower with these variables reads it. */
  const read = async ({ ca, pins }: { ca?: string | undefined; pins?: string | undefined }) => {
    const url = `https://127.0.0.1:${replica.feedPort}`;
    const tls = openTlsAgent({ prefix: 'FEED', url, ca: ca && file(ca), pins, log });
    const client = new FeedClient(
      url,
      () => FEED_TOKEN,
      undefined,
      tls === null ? undefined : () => tls.value,
    );
    try {
      const [parts, page] = [
        await Array.fromAsync(client.snapshot()),
        await client.changesAfter(0),
      ];
      return [parts[0]?.type, page?.head.revision];
    } finally {
      client.close();
    }
  };
  const ANSWERED = ['head', expect.any(Number)];

  beforeAll(async () => {
    const authority = { certFile: file('ca.crt'), keyFile: file('ca.key') };
    makeAuthority(authority.certFile, authority.keyFile);
    makeAuthority(file('other-ca.crt'), file('other-ca.key'));
    signCertificate(file('one.crt'), file('one.key'), authority);
    makeCertificate(file('two.crt'), file('two.key'));
    use('one');
    harness = await startHarness();
    replica = await harness.startReplica({
      FEED_TLS_CERT: file('live.crt'),
      FEED_TLS_KEY: file('live.key'),
    });
  });
  afterAll(async () => {
    await replica.stop();
    await harness.stop();
    rmSync(folder, { recursive: true });
  });

  it('is read by a follower that trusts its authority or knows its public key', async () => {
    expect(await read({ ca: 'ca.crt' })).toEqual(ANSWERED);
    expect(await read({ pins: pinOf('one.crt') })).toEqual(ANSWERED);
    expect(await read({ pins: `${pinOf('two.crt')}, ${pinOf('one.crt')}` })).toEqual(ANSWERED);
    expect(await read({ ca: 'ca.crt', pins: pinOf('one.crt') })).toEqual(ANSWERED);
  });

  it('is not read, and gets no token, without that proof', async () => {
    for (const [trust, reason] of [
      [{}, /unable to verify/],
      [{ ca: 'other-ca.crt' }, /unable to verify/],
      [{ pins: pinOf('two.crt') }, /the pin of its public key is sha256/],
      [{ ca: 'other-ca.crt', pins: pinOf('one.crt') }, /unable to verify/],
      [{ ca: 'ca.crt', pins: pinOf('two.crt') }, /the pin of its public key is sha256/],
    ] as const) {
      await expect(read(trust), JSON.stringify(trust)).rejects.toThrow(reason);
    }
  });

  it('is read with the authorities before when their file is not usable, which is counted', async () => {
    const ca = file('live-ca.crt');
    copyFileSync(file('ca.crt'), ca);
    const url = `https://127.0.0.1:${replica.feedPort}`;
    const tls = openTlsAgent({ prefix: 'FEED', url, ca, pins: undefined, log })!;
    const registry = new Registry();
    registerFeedFileMetrics(registry, { FEED_CA: () => tls.faults });
    const client = new FeedClient(
      url,
      () => FEED_TOKEN,
      undefined,
      () => tls.value,
    );
    writeFileSync(ca, 'nonsense');
    const counted = /^weir_feed_file_faults_total\{variable="FEED_CA"\} [1-9]/m;
    await expect.poll(() => registry.metrics()).toMatch(counted);
    expect((await client.changesAfter(0))?.head.revision).toEqual(expect.any(Number));
    client.close();
  });

  it('is never in clear text', async () => {
    await expect(fetch(`http://127.0.0.1:${replica.feedPort}/changes?after=0`)).rejects.toThrow();
    const url = 'http://127.0.0.1:2';
    const open = (ca?: string, pins?: string) => () =>
      openTlsAgent({ prefix: 'FEED', url, ca, pins, log });
    expect(open(file('ca.crt'))).toThrow('FEED_CA needs a FEED_URL that begins with https://');
    expect(open(undefined, pinOf('one.crt'))).toThrow('FEED_PINS needs a FEED_URL');
    expect(open()()).toBeNull();
  });

  it('has a renewed certificate without a restart', async () => {
    use('two');
    const pins = pinOf('two.crt');
    await expect.poll(() => read({ pins }).catch(() => null)).toEqual(ANSWERED);
    await expect(read({ pins: pinOf('one.crt') })).rejects.toThrow(/the pin of its public key/);
  });
});
