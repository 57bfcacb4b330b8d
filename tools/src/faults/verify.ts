import { readFileSync, rmSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import { until } from '../services/until.js';
import type { RunContext } from './context.js';
import { readHead, readStored, renewCatalogue } from './database.js';
import { verifyLog } from './verify-log.js';

const CATCH_UP_DEADLINE_MS = 20_000;
/** Jobs whose Redis was emptied may have to wait for their next time. */
const CATALOGUE_DEADLINE_MS = 60_000;
/** The head is published every second, so every resolver compares its digest within this time. */
const DIGEST_MS = 2_500;

/** After all faults and changes: database, log and every resolver hold what was acknowledged, and nothing else. */
export async function verify(context: RunContext): Promise<void> {
  const { deployment, checker, keys, stats } = context;
  await verifyLog(deployment.postgres, context.acknowledged, stats);
  await verifyRows(context);
  await waitForHead(context);
  await waitForCatalogue(context);
  await sleep(DIGEST_MS);
  for (const index of deployment.resolvers.keys()) await checker.expectNewest(index, keys);
  await verifyFreshStart(context);
  verifyMessages(context);
}

async function verifyRows({ deployment, stats, keys, stored }: RunContext): Promise<void> {
  for (const [key, found] of await readStored(deployment, keys)) {
    const expected = stored.get(key);
    if (expected !== undefined && found !== expected)
      stats.violation(`the database has ${found} for the ${key.name} instead of ${expected}`);
  }
}

/** The catalogue may still move the head. */
async function waitForHead({ deployment, stats }: RunContext): Promise<void> {
  const endMs = performance.now() + CATCH_UP_DEADLINE_MS;
  for (const resolver of deployment.resolvers) {
    let [revision, head] = [0, 0];
    const isAtHead = async (): Promise<boolean> => {
      revision = await resolver.metric('weir_resolver_revision');
      head = (await readHead(deployment)).revision;
      return revision === head;
    };
    if (!(await until(isAtHead, endMs - performance.now())))
      stats.violation(`${resolver.name} stays at revision ${revision}, the head is ${head}`);
  }
}

/** A new catalogue reaches every resolver, whatever happened to the images before. */
async function waitForCatalogue(context: RunContext): Promise<void> {
  const { deployment, stats } = context;
  const endMs = performance.now() + CATALOGUE_DEADLINE_MS;
  if (!(await renewCatalogue(deployment, CATALOGUE_DEADLINE_MS)))
    stats.violation('a new catalogue is not activated');
  await waitForHead(context);
  for (const resolver of deployment.resolvers) {
    const hasImage = async () =>
      (await resolver.metric('weir_resolver_catalogue_image_missing_seconds')) === 0;
    if (!(await until(hasImage, endMs - performance.now())))
      stats.violation(`${resolver.name} has no image of the catalogue`);
  }
}

/**
 * A resolver without a disk computes the digest of all rows. It must equal the digest that was kept change by
 * change.
 */
async function verifyFreshStart(context: RunContext): Promise<void> {
  const { deployment, checker, keys } = context;
  const [resolver] = deployment.resolvers;
  await resolver.kill();
  rmSync(deployment.dataFolder(0), { recursive: true });
  await resolver.start();
  await waitForHead(context);
  await checker.expectNewest(0, keys);
}

/** No resolver has logged what must never occur. */
function verifyMessages({ deployment, stats }: RunContext): void {
  for (const { name } of deployment.resolvers) {
    for (const line of readFileSync(deployment.logFile(name), 'utf8').split('\n'))
      if (isForbidden(line, stats.faults)) stats.violation(`${name} says: ${line.slice(0, 300)}`);
  }
}

/** A line that must never be in the log of a resolver, unless a fault explains it. */
function isForbidden(line: string, faults: ReadonlyMap<string, number>): boolean {
  if (line.includes('is set aside')) return true;
  if (line.includes('differs from the control plane'))
    return !faults.has('PostgreSQL failed over with lost commits');
  // One resolver has a slow disk.
  if (line.includes('the disk does not answer')) return false;
  return line.includes('cannot be kept on disk') && !faults.has('resolver disk full');
}
