import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { restoreBackup } from '../backup/restore-backup.js';
import { writeBackup } from '../backup/write-backup.js';
import type { RunContext } from './context.js';
import { readHead, readStored, withDatabase } from './database.js';
import type { Writer } from './writer.js';

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
    const folder = join(context.root, 'prisma/migrations');
    const log = () => undefined;
    await restoreBackup({ databaseUrl, file, replace: true, folder, log, signal });
  });
}

/**
 * Takes the database back to an earlier state. Changes that were acknowledged are lost then, so the suite expects
 * nothing of them. It expects that the resolvers notice by themselves, and that whatever is acknowledged afterwards is
 * in force.
 * @param replacer replaces the configuration afterwards, so that each key has a known version again
 */
async function rewind(
  context: RunContext,
  replacer: Writer,
  step: () => Promise<void>,
): Promise<void> {
  await replacer.replaceAfter(async () => {
    const endRewind = context.checker.rewind();
    await step();
    await forgetLost(context);
    return endRewind;
  });
}

async function forgetLost({ deployment, keys, acknowledged }: RunContext): Promise<void> {
  await withDatabase(deployment, async (client) => {
    const head = await readHead(client);
    for (const revision of [...acknowledged.keys()])
      if (revision > head.revision) acknowledged.delete(revision);
    for (const key of keys) key.rewound?.(await readStored(client, key));
  });
}
