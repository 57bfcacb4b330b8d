import { encodeQuery } from '@weir/dns-wire/testing';
import { afterAll, beforeAll, expect, inject, it, vi } from 'vitest';
import { askUdp } from '../../../apps/resolver/src/testing/client.js';
import { readRules } from '../alerts/testing/rules.js';
import { ROWS } from '../dashboard/rows.js';
import { createDatabase } from '../testing/database.js';
import { visit } from '../testing/visit.js';
import { startWeir, TOKEN, type WeirProcesses } from '../testing/weir-processes.js';
import { usedMetrics } from './testing/expression.js';
import { type Exposition, parseExposition } from './testing/exposition.js';

declare module 'vitest' {
  interface ProvidedContext {
    databaseUrl: string;
    redisUrl: string;
  }
}

/** Address and port on which nothing listens. */
const NO_UPSTREAM = '127.0.0.1:9';
/** Labels that alerts and dashboard may use: without the operator too, or for several deployments. */
const COMMON_LABELS = ['job', 'instance', 'namespace'];
/** Labels that Prometheus and its operator add to each series. */
const TARGET_LABELS = [...COMMON_LABELS, 'pod', 'container', 'service', 'endpoint'];

let database: Awaited<ReturnType<typeof createDatabase>>;
let weir: WeirProcesses;
let exposed: Exposition;

beforeAll(async () => {
  database = await createDatabase(inject('databaseUrl'), 'chart_metrics');
  weir = await startWeir(database.url, inject('redisUrl'), NO_UPSTREAM);
  await blockWithoutContent();
  await visitBlockPage();
  const resolver = { address: '127.0.0.1', port: weir.dnsPort };
  expect(await askUdp(resolver, encodeQuery('blocked.example', 1))).not.toBeNull();
  const jobs = ['weir-control-plane', 'weir-resolver', 'weir-block-page'] as const;
  const texts = await Promise.all(jobs.map((job) => weir.metrics(job)));
  exposed = parseExposition(texts.join(''));
});
afterAll(async () => {
  await weir.stop();
  await database.drop();
});

/** Makes a profile for this machine that blocks a name with block page 7, which has no content. */
async function blockWithoutContent(): Promise<void> {
  const post = async (path: string, body: object): Promise<void> => {
    const headers = { Authorization: `Bearer ${TOKEN}`, 'Content-Type': 'application/json' };
    const request = { method: 'POST', headers, body: JSON.stringify(body) };
    const response = await fetch(weir.managementUrl + path, request);
    expect(response.status, await response.text()).toBe(201);
  };
  await post('/blockpage/', { id: 7, type: 1 });
  await post('/profiles/', { profile: { id: 1, page_id: 7 } });
  await post('/net/', { ip: '127.0.0.1', profile_id: 1 });
  await post('/profile/1/bw_list', { type: 'deny', domain: 'blocked.example' });
}

/** Visits the block page until it counts the missing content. Nothing waits for block pages to apply a change. */
async function visitBlockPage(): Promise<void> {
  const headers = { Host: 'blocked.example', Accept: 'text/html' };
  const missing = async (): Promise<void> => {
    await visit(weir.blockPageUrl, headers);
    const text = await weir.metrics('weir-block-page');
    expect(text).toMatch(/^weir_block_page_content_missing{page_id="7"} [1-9]/m);
  };
  await vi.waitFor(missing, { timeout: 60_000, interval: 100 });
}

function unknownMetrics(expressions: readonly string[]): string[] {
  return expressions.flatMap(usedMetrics).flatMap(({ name, labels }) => {
    const own = exposed.get(name);
    if (own === undefined) return [`no process exposes ${name}`];
    const known = [...own, ...COMMON_LABELS];
    return labels
      .filter((label) => !known.includes(label))
      .map((label) => `${name} has no label ${label}`);
  });
}

it('the alerts use only metrics and labels that the processes expose', () => {
  expect(unknownMetrics(readRules().map(({ expr }) => expr))).toEqual([]);
});

it('the dashboard uses only metrics and labels that the processes expose', () => {
  const panels = ROWS.flatMap((row) => row.panels);
  const expressions = panels.flatMap(({ queries }) => queries.map(([expr]) => expr));
  expect(unknownMetrics(expressions)).toEqual([]);
});

it('no metric has a label that Prometheus would have to rename', () => {
  const taken = [...exposed].flatMap(([name, labels]) =>
    TARGET_LABELS.filter((label) => labels.has(label)).map((label) => `${name}{${label}}`),
  );
  expect(taken).toEqual([]);
});

it('the check finds a metric and a label that do not exist', () => {
  expect(unknownMetrics(['sum by (nothing) (weir_ready) + weir_nothing_total'])).toEqual([
    'weir_ready has no label nothing',
    'no process exposes weir_nothing_total',
  ]);
});
