import { needs } from '@weir/ops/testing';
import { jsonItems } from '@weir/tools/bench/init-body';
import { markdownTable } from '@weir/tools/figures';
import { mkdirSync, writeFileSync } from 'node:fs';
import { loadavg } from 'node:os';
import { join } from 'node:path';
import type { Response } from 'playwright-core';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { inPage } from '../../block-page/src/testing/browser.js';
import { ConsoleStack } from './testing/console-stack.js';

const PROFILES = 20_000;
const SUBSCRIBERS = 200_000;
/** Of them has profile 1. */
const OF_ONE_PROFILE = 50_000;
const ORDERS = 2_000;
/** Of profile 1. */
const GRANTS = 1_000;
const CATEGORIES = 60;
const LISTS = 300;

/** Of the answer to any one call. */
const MOST_BYTES = 150_000;
const MOST_ROWS = 1_000;

const TURNS = 5;

/** Some lists of names. @returns their folder */
function writeCatalogue(folder: string): string {
  const catalogue = join(folder, 'lists');
  mkdirSync(catalogue);
  const list = (i: number) => {
    const file = `s${i}.txt`;
    writeFileSync(join(catalogue, file), `n1.s${i}.example\nn2.s${i}.example\n`);
    return { file, format: 'domains', licence: 'MIT', commercial_use: true };
  };
  const categories = Array.from({ length: CATEGORIES }, (_, i) => ({
    ...{ id: 1 + i, name: `Category ${1 + i}` },
    sources: Array.from({ length: LISTS / CATEGORIES }, (__, k) => list(i * 10 + k)),
  }));
  writeFileSync(join(catalogue, 'catalogue.yaml'), JSON.stringify({ categories }));
  return catalogue;
}

/** Does something so often, eight at once. */
async function atOnce(count: number, add: (i: number) => Promise<unknown>): Promise<void> {
  const numbers = Array.from({ length: count }, (_, i) => i).values();
  const work = async (): Promise<void> => {
    for (const i of numbers) await add(i);
  };
  await Promise.all(Array.from({ length: 8 }, work));
}

/** The body of POST /init/. */
function* configuration(): Generator<string> {
  const profiles = Array.from({ length: PROFILES }, (_, i) => ({ profile: { id: 1 + i } }));
  yield '{"blockpages":[],"bw_lists":[],"napts":[],"nets6":[],"profiles":[';
  yield* jsonItems(profiles);
  yield '],"nets":[';
  yield* jsonItems(
    Array.from({ length: SUBSCRIBERS }, (_, i) => ({
      ip: `10.${i >>> 14}.${(i >>> 6) & 255}.${(i & 63) * 4}`,
      prefix_len: 30,
      profile_id: i < OF_ONE_PROFILE ? 1 : 1 + (i % PROFILES),
    })),
  );
  yield ']}';
}

interface Shown {
  readonly name: string;
  readonly ms: number;
  readonly answers: readonly Answer[];
}

interface Answer {
  readonly path: string;
  readonly bytes: number;
  readonly rows: number;
}

/** What the response to a call says, except for streams, which have no end. */
async function answerOf(response: Response): Promise<Answer[]> {
  const type = response.headers()['content-type'] ?? '';
  if (!type.startsWith('application/json')) return [];
  const body = await response.body();
  const { pathname, search } = new URL(response.url());
  return [{ path: pathname + search, bytes: body.length, rows: rowsOf(JSON.parse(String(body))) }];
}

/** The length of the longest list in it. */
function rowsOf(value: unknown): number {
  if (typeof value !== 'object' || value === null) return 0;
  const own = Array.isArray(value) ? value.length : 0;
  return Math.max(own, ...Object.values(value).map(rowsOf));
}

/** Each page with its address, and the elements that it has when it is complete. */
const PAGES: readonly (readonly [string, string, readonly string[]])[] = [
  ['Why?', 'explain#client=10.0.0.1&domain=o7.example', ['.ladder .decided']],
  ['Resolvers', 'resolvers', ['tbody tr:nth-child(2)']],
  ['Profile', 'profiles/1', ['.week svg', '.wide li:nth-child(100)', '.remaining', 'td code']],
  ['Changes', 'changes', ['tbody tr:nth-child(100)']],
  ['Changes of a profile', 'changes#profile_id=1', ['tbody tr:nth-child(100)']],
  ['Orders', 'orders', ['tbody tr:nth-child(100)']],
  ['Catalogue', 'catalogue#domain=n1.s12.example', ['main > .scroll td', 'tr:nth-child(300)']],
  ['Init', 'init', ['.drop button']],
];

/** A script that notes after how many milliseconds all of these elements were there. */
const watchFor = (selectors: readonly string[]): string => `{
  const look = () => {
    const isThere = ${JSON.stringify(selectors)}.every((one) => document.querySelector(one));
    if (isThere) window.shownAfterMs = performance.now();
    else requestAnimationFrame(look);
  };
  look();
}`;

describe('the console with 200,000 subscribers', needs('chromium-headless-shell'), () => {
  let stack: ConsoleStack;
  const shown: Shown[] = [];

  beforeAll(async () => {
    stack = await ConsoleStack.start((folder) => ({ CATALOGUE: writeCatalogue(folder) }));
    const { api } = stack;
    await api.upload('POST', '/init/', configuration());
    await atOnce(ORDERS, (i) =>
      api.change('POST', '/orders/', {
        ...{ id: 1 + i, domain: `o${i}.example`, authority: `Court ${i % 7}` },
        reference: `${i} O/26`,
      }),
    );
    await atOnce(GRANTS, (i) =>
      api.change('POST', '/profile/1/grants', {
        ...{ domain: `g${i}.example`, verdict: 'allow', minutes: 600 + i },
      }),
    );
  });
  afterAll(async () => {
    const rows = shown.map(({ name, ms, answers }) => [
      ...[name, `${Math.round(ms)} ms`, String(answers.length)],
      `${Math.round(answers.reduce((sum, { bytes }) => sum + bytes, 0) / 1_000)} kB`,
      String(Math.max(0, ...answers.map(({ rows: count }) => count))),
    ]);
    const headings = ['Page', 'Shown after', 'Calls', 'Answers together', 'Longest list'];
    const load = loadavg()[0].toFixed(1);
    process.stdout.write(`Load ${load}\n${markdownTable(headings, rows)}\n`);
    await stack.stop();
  });
  afterEach(() => stack.closePages());

  it.each(PAGES)('%s reads little', async (name, path, selectors) => {
    const page = await stack.openAs('write', 'init');
    await page.addInitScript({ content: watchFor(selectors) });
    const times: number[] = [];
    let answers: Answer[] = [];
    for (let turn = 0; turn < TURNS; turn++) {
      await page.goto('about:blank');
      const reading: Promise<Answer[]>[] = [];
      const note = (response: Response): void => void reading.push(answerOf(response));
      page.on('response', note);
      await page.goto(`${stack.origin}/console/${path}`, { waitUntil: 'commit' });
      const shownAfter = (): Promise<number> => inPage(page, 'window.shownAfterMs');
      await expect.poll(shownAfter).toBeGreaterThan(0);
      times.push(await shownAfter());
      page.off('response', note);
      answers = (await Promise.all(reading)).flat();
    }
    times.sort((a, b) => a - b);
    shown.push({ name, ms: times[Math.floor(TURNS / 2)], answers });
    expect(answers.filter(({ bytes, rows }) => bytes > MOST_BYTES || rows > MOST_ROWS)).toEqual([]);
  });
});
