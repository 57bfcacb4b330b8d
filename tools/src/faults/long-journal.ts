import { statSync } from 'node:fs';
import { join } from 'node:path';
import type { Deployment } from '../deployment/deployment.js';
import type { AnswerChecker } from './answer-checker.js';
import type { Key } from './keys/key.js';
import type { ReadWriteLock } from './read-write-lock.js';

/** The resolver that never replaces its journal by a snapshot. */
export const RESOLVER_WITH_JOURNAL = 0;

const JOURNAL_BYTES = 30_000_000;
/** Each change of this profile replaces so many categories: 110 kB of the journal. Nobody has the profile. */
const CATEGORIES = 10_000;
const FIRST_CATEGORY = 1_000_000_000;
const PROFILE = 950;
const CALLS_AT_ONCE = 4;

export interface LongJournalOptions {
  readonly deployment: Deployment;
  readonly checker: AnswerChecker;
  readonly keys: readonly Key[];
  /** A replacement of the whole configuration may lead to a new snapshot, so there is none meanwhile. */
  readonly lock: ReadWriteLock;
}

/**
 * Kills a resolver whose snapshot is old and whose journal is long, and asks it without a pause while it starts. It may
 * not answer yet, but it must never answer by what was before the journal.
 */
export async function startWithLongJournal(options: LongJournalOptions): Promise<void> {
  const { deployment, checker, keys, lock } = options;
  const resolver = deployment.resolvers[RESOLVER_WITH_JOURNAL];
  await lock.shared(async () => {
    await fillJournal(deployment);
    await resolver?.kill();
    await checker.askWhile(RESOLVER_WITH_JOURNAL, keys, () => resolver?.start());
  });
}

async function fillJournal(deployment: Deployment): Promise<void> {
  const { clients } = deployment;
  const journal = join(deployment.dataFolder(RESOLVER_WITH_JOURNAL), 'journal');
  let version = 0;
  const fill = async (first: number): Promise<void> => {
    const client = clients[first % clients.length];
    while (statSync(journal).size < JOURNAL_BYTES) {
      const start = FIRST_CATEGORY + CATEGORIES * version++;
      const cat_ids = Array.from({ length: CATEGORIES }, (_, i) => start + i);
      const path = `/profiles/${PROFILE}`;
      const reply = await client?.call('PATCH', path, { cat_ids });
      if (reply?.status === 404)
        await client?.call('POST', '/profiles/', { profile: { id: PROFILE } });
    }
  };
  await Promise.all(Array.from({ length: CALLS_AT_ONCE }, (_, i) => fill(i)));
}
