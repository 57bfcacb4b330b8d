import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { restoreBackup } from '../backup/restore-backup.js';
import { writeBackup } from '../backup/write-backup.js';
import type { Deployment } from '../deployment/deployment.js';
import { until } from '../services/until.js';
import type { RunContext } from './context.js';
import type { Key } from './keys/key.js';
import type { Writer } from './writer.js';

interface DatabaseHead {
  readonly revision: number;
  /** The version of the active catalogue; versions only grow. */
  readonly catalogue: number;
}

export async function readHead({ postgres }: Deployment): Promise<DatabaseHead> {
  const [head] = await postgres.query<DatabaseHead>(
    `SELECT revision::float8 AS revision, coalesce(catalogue_version, 0)::float8 AS catalogue
     FROM config_head`,
  );
  return head;
}

/** What the database has for each key. */
export async function readStored(
  { postgres }: Deployment,
  keys: readonly Key[],
): Promise<ReadonlyMap<Key, string | null>> {
  const [{ texts }] = await postgres.query<{ texts: readonly (string | null)[] }>(
    `SELECT ARRAY[${keys.map(({ sql }) => `(${sql})::text`).join()}] AS texts`,
  );
  return new Map(keys.map((key, i) => [key, texts[i]]));
}

/** Changes the catalogue's sources. @returns whether the control planes activated the new catalogue in time. */
export async function renewCatalogue(deployment: Deployment, deadlineMs: number): Promise<boolean> {
  const before = (await readHead(deployment)).catalogue;
  deployment.catalogue.renew();
  return until(async () => (await readHead(deployment)).catalogue !== before, deadlineMs);
}

/** How long a control plane may take to compile and activate a catalogue before the fault goes on without it. */
const ACTIVATION_DEADLINE_MS = 8_000;
/** For each piece of a response of the feed. */
const DELAY_MS = 500;

/** What becomes of the pieces of an image as they are written: one byte of each differs, or there are none. */
const TRIGGERS = {
  bad: 'NEW.bytes := set_byte(NEW.bytes, 0, 255 - get_byte(NEW.bytes, 0)); RETURN NEW;',
  // Each replica stores an image of which it finds no piece.
  missing: 'INSERT INTO weir_lost_piece VALUES (NEW.*) ON CONFLICT DO NOTHING; RETURN NULL;',
} as const;

/** Of the images after this version. */
const REPAIRS = {
  bad: (version: number) => `
    UPDATE catalogue_image_piece SET bytes = set_byte(bytes, 0, 255 - get_byte(bytes, 0))
    WHERE version > ${version}`,
  // Old images are deleted meanwhile.
  missing: (version: number) => `
    INSERT INTO catalogue_image_piece SELECT weir_lost_piece.*
    FROM weir_lost_piece JOIN catalogue_image USING (version) WHERE version > ${version}`,
} as const;

/** Activates a catalogue whose image cannot be had for a while, or only slowly. Changes must go on meanwhile. */
export async function breakImage(
  deployment: Deployment,
  kind: 'bad' | 'missing' | 'slow',
  durationMs: number,
): Promise<void> {
  if (kind === 'slow') {
    deployment.feedProxy.delayMs = DELAY_MS;
    deployment.catalogue.renew();
    await sleep(ACTIVATION_DEADLINE_MS);
    deployment.feedProxy.delayMs = 0;
    return;
  }
  const { postgres } = deployment;
  await postgres.query(`
    CREATE TABLE weir_lost_piece (LIKE catalogue_image_piece INCLUDING INDEXES);
    CREATE OR REPLACE FUNCTION weir_break_piece() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN ${TRIGGERS[kind]} END $$;
    CREATE OR REPLACE TRIGGER weir_break_piece BEFORE INSERT ON catalogue_image_piece
    FOR EACH ROW EXECUTE FUNCTION weir_break_piece()`);
  const { catalogue } = await readHead(deployment);
  await renewCatalogue(deployment, ACTIVATION_DEADLINE_MS);
  await sleep(durationMs);
  await postgres.query(`
    DROP TRIGGER weir_break_piece ON catalogue_image_piece;
    ${REPAIRS[kind](catalogue)};
    DROP TABLE weir_lost_piece`);
}

/** As a failover to a replica that has not received the last commits: the log goes on with the same lineage. */
export async function failOver(
  context: RunContext,
  replacer: Writer,
  durationMs: number,
): Promise<void> {
  const { postgres } = context.deployment;
  await postgres.copy();
  await sleep(durationMs);
  await rewind(context, replacer, () => postgres.revert());
}

/** `weir backup`, and later `weir restore`: the log has another lineage and begins after the backup. */
export async function restore(
  context: RunContext,
  replacer: Writer,
  durationMs: number,
): Promise<void> {
  const file = join(context.folder, 'backup.gz');
  const databaseUrl = context.deployment.postgres.url;
  const { signal } = new AbortController();
  await writeBackup(databaseUrl, file, signal);
  await sleep(durationMs);
  await rewind(context, replacer, async () => {
    const log = () => undefined;
    await restoreBackup({ databaseUrl, file, replace: true, log, signal });
  });
}

/**
 * Takes the database back to an earlier state. Changes that were acknowledged are lost then, so the suite expects
 * nothing of them. It expects that the resolvers notice by themselves, and that whatever is acknowledged afterwards is
 * in force.
 * @param replacer replaces the configuration afterwards, so that each key has a known version again
 */
async function rewind(
  { deployment, checker, keys, acknowledged }: RunContext,
  replacer: Writer,
  step: () => Promise<void>,
): Promise<void> {
  await replacer.replaceAfter(async () => {
    const endRewind = checker.rewind();
    await step();
    const head = await readHead(deployment);
    for (const revision of [...acknowledged.keys()])
      if (revision > head.revision) acknowledged.delete(revision);
    for (const [key, stored] of await readStored(deployment, keys)) key.rewound(stored);
    return endRewind;
  });
}
