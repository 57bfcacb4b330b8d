import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { type Harness, startHarness } from '../testing/harness.js';

let harness: Harness;
let folder: string;

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'weir-catalogue-sets-'));
  const write = (file: string, text: string) => writeFile(join(folder, file), text);
  await mkdir(join(folder, 'sets'));
  await write('bad.txt', 'one.example\ntwo.example\n');
  await write(
    'sets/bad.yaml',
    'categories: [{ id: 1, sources: [{ file: bad.txt, format: domains }] }]\n',
  );
  await write(
    'catalogue.yaml',
    'categories: [{ id: 1, name: Bad, sample: true, domains: [sample.example] }]\n',
  );
  harness = await startHarness({ CATALOGUE: folder, CATALOGUE_SETS: 'bad' });
});
afterAll(async () => {
  await harness.stop();
  await rm(folder, { recursive: true });
});

it('a category has the list of a set of CATALOGUE_SETS, and no longer only sample names', async () => {
  const categories = async () => (await harness.call('GET', '/categories/')).body as unknown;
  await expect
    .poll(categories, { timeout: 60_000 })
    .toMatchObject([{ id: 1, name: 'Bad', domains: 3 }]);
  expect((await harness.call('GET', '/catalogue/')).body).toMatchObject({
    sources: [{ cat_id: 1, source: 'bad.txt', state: 'good', names: 2 }],
  });
  const ready = await fetch(`http://127.0.0.1:${harness.controlPlane.opsPort}/readyz`);
  expect(await ready.text()).toBe('ok\n');
});
