import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { restoreBackup } from '../backup/restore-backup.js';
import { writeBackup } from '../backup/write-backup.js';
import type { Deployment } from '../deployment/deployment.js';
import type { AnswerChecker } from './answer-checker.js';
import { readHead, readStored, withDatabase } from './database.js';
import type { Key } from './keys/key.js';
import type { SettledKey } from './verify-log.js';
import type { Writer } from './writer.js';

export interface RewindOptions {
  readonly deployment: Deployment;
  readonly checker: AnswerChecker;
  readonly keys: readonly Key[];
  /** The acknowledged changes; those that are lost are removed. */
  readonly acknowledged: Map<number, readonly SettledKey[]>;
  /** Replaces the configuration afterwards, so that each key has a known version again. */
  readonly replacer: Writer;
  /** An empty folder. */
  readonly folder: string;
  /** The repository. */
  readonly root: string;
}

/**
 * Takes the database back to an earlier state. Changes that were acknowledged are lost then, so the suite expects
 * nothing of them. It expects that the resolvers notice by themselves, and that whatever is acknowledged afterwards is
 * in force.
 */
export class DatabaseRewind {
  private readonly stopping = new AbortController();

  constructor(private readonly options: RewindOptions) {}

  /** As a failover to a replica that has not received the last commits: the log goes on with the same lineage. */
  async failOver(durationMs: number): Promise<void> {
    const { deployment } = this.options;
    await deployment.postgres.copy();
    await sleep(durationMs);
    await this.rewind(() => deployment.postgres.revert());
  }

  /** `weir backup`, and later `weir restore`: the log has another lineage and begins after the backup. */
  async restore(durationMs: number): Promise<void> {
    const { deployment, folder, root } = this.options;
    const file = join(folder, 'backup.gz');
    const databaseUrl = deployment.postgres.url;
    const { signal } = this.stopping;
    await writeBackup(databaseUrl, file, signal);
    await sleep(durationMs);
    await this.rewind(async () => {
      const migrations = join(root, 'prisma/migrations');
      const log = () => undefined;
      await restoreBackup({ databaseUrl, file, replace: true, folder: migrations, log, signal });
    });
  }

  private async rewind(step: () => Promise<void>): Promise<void> {
    const { checker, replacer, keys } = this.options;
    await replacer.replaceAfter(keys, async () => {
      const endRewind = checker.rewind();
      await step();
      await this.forgetLost();
      return endRewind;
    });
  }

  private async forgetLost(): Promise<void> {
    const { deployment, keys, acknowledged } = this.options;
    await withDatabase(deployment, async (client) => {
      const head = await readHead(client);
      for (const revision of [...acknowledged.keys()])
        if (revision > head.revision) acknowledged.delete(revision);
      for (const key of keys) key.rewound?.(await readStored(client, key));
    });
  }
}
