import { buildImage } from '@weir/catalogue/delta';
import { CatalogueImages, FeedClient } from '@weir/change-feed';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { FEED_TOKEN, type Harness, startHarness } from '../testing/harness.js';

const silent = { info: () => undefined, warn: () => undefined, error: () => undefined };
const NAMES = Array.from({ length: 30_000 }, (_, i) => `n${i}.example`);
const EVERY_OTHER = NAMES.filter((_, i) => i % 2 === 0);

describe('the deltas between catalogue images in PostgreSQL', () => {
  const folder = mkdtempSync(join(tmpdir(), 'weir-catalogue-'));
  let harness: Harness;

  /** Puts a list in force, as a control plane does that starts. @returns what followers are told of the image. */
  const activate = async (names: readonly string[]) => {
    writeFileSync(join(folder, 'list'), names.join('\n'));
    const source = '{ file: list, format: domains }';
    const yaml = `categories: [{ id: 12, name: Gambling, sources: [${source}] }]\napplications: []\n`;
    writeFileSync(join(folder, 'catalogue.yaml'), yaml);
    await (await harness.startReplica({ CATALOGUE: folder })).stop();
    const [[version, sha256, sizeBytes]] = await harness.sql(
      'SELECT version, sha256, size_bytes FROM catalogue_image JOIN config_head ON version = catalogue_version',
    );
    return { version: Number(version), sha256: sha256 as string, sizeBytes: Number(sizeBytes) };
  };
  const follower = () =>
    new CatalogueImages(new FeedClient(harness.feedUrl, () => FEED_TOKEN), undefined, silent, {
      buildImage,
    });
  const metric = async (name: string) => {
    const url = `http://127.0.0.1:${harness.controlPlane.opsPort}/metrics`;
    const lines = (await (await fetch(url)).text()).split('\n');
    return Number(lines.find((line) => line.startsWith(`${name} `))?.split(' ')[1]);
  };
  const deltaBytes = () => metric('weir_feed_catalogue_bytes_total{as="delta"}');

  beforeAll(async () => {
    harness = await startHarness();
  });
  afterAll(async () => {
    await harness.stop();
    rmSync(folder, { recursive: true });
  });

  it('are small where few names differ, one or two images behind, and none where many do', async () => {
    const images = follower();
    const first = await activate(NAMES);
    const bytes = await images.load(first);
    const base = { sha256: first.sha256, bytes };
    expect(await metric('weir_feed_catalogue_bytes_total{as="whole"}')).toBe(first.sizeBytes);

    const second = await activate([...NAMES, 'second.example']);
    const image = await images.load(second, undefined, base);
    expect(images.counters).toEqual({ whole: 1, built: 1, deltaFaults: 0 });
    expect(await deltaBytes()).toBeLessThan(1_000);
    expect(Buffer.compare(image, await follower().load(second))).toBe(0);

    const third = await activate(['third.example', ...NAMES.slice(30)]);
    const late = follower();
    const latest = await late.load(third, undefined, base);
    expect(late.counters).toEqual({ whole: 0, built: 1, deltaFaults: 0 });
    expect(await deltaBytes()).toBeLessThan(2_000);
    expect(Buffer.compare(latest, await follower().load(third))).toBe(0);

    const fourth = await activate(EVERY_OTHER);
    await images.load(fourth, undefined, { sha256: third.sha256, bytes: latest });
    expect(images.counters).toEqual({ whole: 2, built: 1, deltaFaults: 0 });
    expect(await metric('weir_catalogue_deltas_total{result="made"}')).toBe(2);
    expect(await metric('weir_catalogue_deltas_total{result="too_large"}')).toBe(1);

    // The first image was deleted when the fourth came.
    const old = follower();
    await old.load(fourth, undefined, base);
    expect(old.counters).toEqual({ whole: 1, built: 0, deltaFaults: 0 });
  });
});
