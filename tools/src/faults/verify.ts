import { existsSync, readFileSync, rmSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import pg from 'pg';
import type { Deployment } from '../deployment/deployment.js';
import type { Key } from './keys/key.js';
import type { Tally } from './tally.js';
import type { Watch } from './watch.js';

const CATCH_UP_DEADLINE_MS = 20_000;
/** Heads are published each second: within this time every resolver has compared its digest with one. */
const DIGEST_MS = 2_500;

export interface VerifyOptions {
  readonly deployment: Deployment;
  readonly watch: Watch;
  readonly keys: readonly Key[];
  readonly tally: Tally;
  /** What the database must hold of each key. */
  readonly stored: ReadonlyMap<Key, string | null>;
  /** Revisions of acknowledged changes. */
  readonly revisions: ReadonlySet<number>;
}

/** How the change log stands at the end. */
export interface LogState {
  readonly head: number;
  readonly gaps: number;
}

/**
 * When all faults are over and nobody writes: database, log and every resolver have what was acknowledged, and
 * nothing else.
 */
export async function verify(options: VerifyOptions): Promise<LogState> {
  const { deployment, watch, keys, tally } = options;
  const client = new pg.Client(deployment.databaseUrl);
  await client.connect();
  try {
    const log = await verifyLog(client, options);
    await verifyRows(client, options);
    await waitForRevision(deployment, log.head, tally);
    await sleep(DIGEST_MS);
    for (const index of deployment.resolvers.keys()) await watch.expectNewest(index, keys);
    await verifyFreshStart(options, log.head);
    return log;
  } finally {
    await client.end();
  }
}

async function verifyLog(
  client: pg.Client,
  { tally, revisions }: VerifyOptions,
): Promise<LogState> {
  const { rows } = await client.query<Record<'head' | 'first' | 'last' | 'count', number>>(
    `SELECT (SELECT revision FROM config_head)::float8 AS head, min(revision)::float8 AS first,
            max(revision)::float8 AS last, count(*)::float8 AS count FROM change`,
  );
  const [log] = rows;
  if (log === undefined) throw new Error('no log');
  const gaps = log.last - log.first + 1 - log.count;
  if (gaps !== 0 || log.first !== 1 || log.last !== log.head)
    tally.violation(`the log has gaps: ${JSON.stringify(log)}`);
  // Not spread: a run of an hour has more of them than a call takes arguments.
  const newest = revisions.values().reduce((a, b) => Math.max(a, b), 0);
  if (newest > log.head)
    tally.violation(`revision ${newest} was acknowledged, the log ends at ${log.head}`);
  return { head: log.head, gaps };
}

async function verifyRows(client: pg.Client, { tally, stored }: VerifyOptions): Promise<void> {
  for (const [key, expected] of stored) {
    const { rows } = await client.query<(string | null)[]>({
      text: `SELECT (${key.sql})::text`,
      rowMode: 'array',
    });
    const found = rows[0]?.[0] ?? null;
    if (found !== expected)
      tally.violation(`the database has ${found} for the ${key.name} instead of ${expected}`);
  }
}

async function waitForRevision(deployment: Deployment, head: number, tally: Tally): Promise<void> {
  const deadlineMs = performance.now() + CATCH_UP_DEADLINE_MS;
  for (const resolver of deployment.resolvers) {
    let revision = -1;
    while (revision !== head && performance.now() < deadlineMs) {
      revision = await resolver.metric('weir_resolver_revision');
      if (revision !== head) await sleep(50);
    }
    if (revision !== head)
      tally.violation(`${resolver.name} stays at revision ${revision}, the head is ${head}`);
  }
}

/**
 * A resolver without a disk computes the digest of all rows anew: it must be the one that changes have led to step
 * by step.
 */
async function verifyFreshStart(options: VerifyOptions, head: number): Promise<void> {
  const { deployment, watch, keys, tally } = options;
  const [resolver] = deployment.resolvers;
  if (resolver === undefined) return;
  await resolver.kill();
  rmSync(deployment.dataFolder(0), { recursive: true });
  await resolver.start();
  await waitForRevision(deployment, head, tally);
  await watch.expectNewest(0, keys);
}

/** Lines of the resolvers' logs: snapshots loaded by cause, and what must never be said. */
export function readLogs(deployment: Deployment, tally: Tally): Record<string, number> {
  const loads: Record<string, number> = {};
  for (const { name } of deployment.resolvers) {
    const file = deployment.logFile(name);
    const lines = existsSync(file) ? readFileSync(file, 'utf8').split('\n') : [];
    for (const line of lines) {
      const cause = /"cause":"(\w+)".*"snapshot loaded"/.exec(line)?.[1];
      if (cause !== undefined) loads[cause] = (loads[cause] ?? 0) + 1;
      if (/differs from the control plane|is set aside|cannot be kept on disk/.test(line))
        tally.violation(`${name} says: ${line.slice(0, 300)}`);
    }
  }
  return loads;
}
