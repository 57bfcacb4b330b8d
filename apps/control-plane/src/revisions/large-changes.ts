import { Digest, EMPTY_DIGEST } from '@weir/config-model';
import type { Applied } from '@weir/change-feed';
import type { Span } from '@weir/telemetry';
import type { ClientBase } from 'pg';
import { confirmCommit } from '../platform/database/commit-outcome.js';
import type { Database } from '../platform/database/database.js';
import type { Transaction } from '../platform/database/transaction.js';
import { jsonText } from '../platform/json-text.js';
import type { Author } from './author.js';
import { type LockedHead, lockHead, logStaged, readHead, stageOperations } from './change-log.js';
import { changed, type MadeChange } from './change-outcome.js';
import { ChangeTrace, type CommittedChange } from './change-trace.js';
import { Deadline } from './deadline.js';
import type { Made } from './group-commit.js';
import type { GroupedChange } from './grouped-change.js';
import type { KeptOperations } from './kept-operations.js';
import { lockPart, type Part } from './parts.js';
import { WorkingTables } from './working-tables.js';
import type { WriteQueue } from './write-queue.js';

/** A change with more items than this is made apart, if it has a part. One with less delays others for some 50 ms. */
export const LARGE_ITEMS = 2_000;

export type LargeChange<T> = GroupedChange<T> & { readonly part: Part };

export function isLarge<T>(change: GroupedChange<T>, largeItems: number): change is LargeChange<T> {
  return change.part !== undefined && (change.items ?? 1) > largeItems;
}

/** The two queues of a replica, and the longest wait in them and for the locks of other replicas. */
interface LargeChangesOptions {
  /** Large changes, one at a time. */
  readonly longQueue: WriteQueue;
  /** All changes, when they need the head. */
  readonly queue: WriteQueue;
  readonly waitMs: number;
  /** For the followers, which ask for them after the COMMIT. */
  readonly keptOperations: KeptOperations;
  /** See `GroupCommit`. */
  readonly onCommitted: (changes: readonly CommittedChange[]) => Promise<Applied>;
}

/**
 * Makes large changes, each in a transaction of its own: it locks its part, reads, checks, writes and stages its log
 * entry, while other changes go on. Only then does it lock the head, for its revision and its digest, and commits.
 */
export class LargeChanges {
  constructor(
    private readonly database: Database,
    private readonly options: LargeChangesOptions,
  ) {}

  /** @throws what the change throws, or why it could not be made; then nothing is changed. */
  async make<T>(change: LargeChange<T>, author: Author, span: Span | null): Promise<Made<T>> {
    const trace = ChangeTrace.begin(span);
    const deadline = new Deadline(this.options.waitMs);
    try {
      return await this.options.longQueue.run(
        () => this.makeNow(change, author, trace, deadline),
        deadline,
      );
    } catch (error) {
      trace?.fail();
      throw error;
    }
  }

  private makeNow<T>(
    change: LargeChange<T>,
    author: Author,
    trace: ChangeTrace | null,
    deadline: Deadline,
  ): Promise<Made<T>> {
    trace?.beginTransaction(null);
    return this.database.largeWrites.use(async (client, tx) => {
      await client.query('BEGIN');
      await lockPart(client, change.part, deadline);
      const staged = await deadline.exclude(() => stage(client, tx, change));
      return this.options.queue.run(
        () => this.commit(client, staged, author, trace, deadline),
        deadline,
      );
    });
  }

  private async commit<T>(
    client: ClientBase,
    { made: staged, operations }: StagedChange<T>,
    author: Author,
    trace: ChangeTrace | null,
    deadline: Deadline,
  ): Promise<Made<T>> {
    const outcome = await confirmCommit<MadeChange<T>>(
      this.database.pool,
      async (beforeCommit) => {
        const { head, transaction } = await lockHead(client, { deadline });
        const made = onTopOf(head, staged);
        await logStaged(client, { ...made, author });
        const { revision, digest } = made.change;
        this.options.keptOperations.keep({ revision, digest, operations });
        beforeCommit(made, transaction);
        await client.query('COMMIT');
        return made;
      },
      this.options.waitMs,
    );
    trace?.endTransaction(1);
    const applied = this.options.onCommitted([{ change: outcome.change, trace }]);
    return { outcome, applied };
  }
}

/** A change whose rows and operations are written. */
interface StagedChange<T> {
  /** On top of an empty configuration. */
  readonly made: MadeChange<T>;
  /** JSON. */
  readonly operations: string;
}

/** Does everything that does not need the head. */
async function stage<T>(
  client: ClientBase,
  tx: Transaction,
  change: LargeChange<T>,
): Promise<StagedChange<T>> {
  const head = await readHead(client);
  const tables = new WorkingTables();
  await change.need(tables);
  await tables.read(tx, head);
  const done = await change.make(tables);
  await tables.write(tx);
  const made = await changed({ ...head, digest: EMPTY_DIGEST }, done);
  const operations = await jsonText(made.change.operations);
  await stageOperations(client, operations);
  return { made, operations };
}

/** Digests are sums, so that of the change is added to that of the head. */
function onTopOf<T>(
  { lineage, revision, digest }: LockedHead,
  staged: MadeChange<T>,
): MadeChange<T> {
  const sum = Digest.parse(digest);
  sum.addDigest(Digest.parse(staged.change.digest));
  const { operations } = staged.change;
  const change = { lineage, revision: revision + 1, digest: sum.toString(), operations };
  return { ...staged, change };
}
