import {
  type Change,
  Digest,
  type DomainRule,
  EMPTY_DIGEST,
  encodeChange,
  type Head,
  type Operation,
  toRow,
} from '@weir/config-model';
import { randomUUID } from 'node:crypto';
import type { BuiltConfiguration, FollowerTarget } from '../follower/persisted-configuration.js';
import { toLoggedChange } from '../protocol/changes.js';
import type { FeedSource, LogPage } from '../server/feed-server.js';
import type { SnapshotSource } from '../server/snapshot-cache.js';
import type { PublishedChange, SnapshotPart } from '../protocol/protocol.js';

const rule = (profileId: number, verdict: 1 | 2): DomainRule => ({
  profileId,
  domainHash: 1,
  verdict,
});

/** A configuration for tests: one domain rule for each profile, and the digest. */
class Rules {
  readonly verdicts = new Map<number, 1 | 2>();
  readonly digest: Digest;

  constructor(digest = EMPTY_DIGEST) {
    this.digest = Digest.parse(digest);
  }

  put(profileId: number, verdict: 1 | 2): void {
    const before = this.verdicts.get(profileId);
    if (before !== undefined)
      this.digest.remove('domainRule', toRow('domainRule', rule(profileId, before)));
    this.verdicts.set(profileId, verdict);
    this.digest.add('domainRule', toRow('domainRule', rule(profileId, verdict)));
  }

  apply(operations: readonly Operation[]): void {
    for (const operation of operations) {
      if (operation.type !== 'put' || operation.kind !== 'domainRule')
        throw new Error('not expected here');
      this.put(operation.entity.profileId, operation.entity.verdict);
    }
  }
}

/** Thrown by a log that is unavailable for now. */
export class Outage extends Error {}

/** The control plane's side, in memory: a log of changes and the configuration that results from them. */
export class MemoryLog implements FeedSource, SnapshotSource {
  private rules = new Rules();
  private readonly changes: Change[] = [];
  private firstKept = 0;
  private held: Promise<undefined> = Promise.resolve(undefined);
  /** Whether requests for changes fail, while snapshots work. */
  refusesChanges = false;
  /** Whether requests for changes meet an outage. */
  isUnavailable = false;
  /** Whether requests for changes get no answer. */
  neverAnswers = false;
  revision = 0;
  /** How often all rows were read. */
  snapshotsRead = 0;
  lineage: string = randomUUID();

  commit(profileId: number, verdict: 1 | 2): PublishedChange {
    this.rules.put(profileId, verdict);
    return this.append([{ type: 'put', kind: 'domainRule', entity: rule(profileId, verdict) }]);
  }

  /** Replaces the whole configuration, as `POST /init/` does. */
  replace(verdicts: ReadonlyMap<number, 1 | 2>): PublishedChange {
    for (const [profileId, verdict] of this.rules.verdicts) {
      this.rules.digest.remove('domainRule', toRow('domainRule', rule(profileId, verdict)));
    }
    this.rules.verdicts.clear();
    for (const [profileId, verdict] of verdicts) this.rules.put(profileId, verdict);
    return this.append([{ type: 'reload' }]);
  }

  prune(): void {
    this.firstKept = this.revision;
  }

  /** Restores the database as it was at an earlier revision; the log begins there. */
  restore(revision: number): void {
    this.setBack(revision);
    this.lineage = randomUUID();
    this.prune();
  }

  /** Sets the database back to an earlier revision with the same lineage, as a restored disk snapshot would. */
  setBack(revision: number): void {
    this.changes.length = revision;
    this.revision = revision;
    this.rules = new Rules();
    for (const change of this.changes) this.rules.apply(change.operations);
  }

  /** Loses a change from the middle of the log, which must never happen. */
  lose(revision: number): void {
    this.changes.splice(
      this.changes.findIndex((change) => change.revision === revision),
      1,
    );
  }

  verdicts(): Record<string, 1 | 2> {
    return Object.fromEntries(this.rules.verdicts);
  }

  currentHead(): Head {
    const { lineage, revision } = this;
    return { lineage, revision, digest: this.rules.digest.toString() };
  }

  head(): Promise<Head> {
    return Promise.resolve(this.currentHead());
  }

  changesAfter(revision: number, limit: number): Promise<LogPage> {
    if (this.refusesChanges) return Promise.reject(new Error('refused by this test'));
    if (this.isUnavailable) return Promise.reject(new Outage('out of reach in this test'));
    if (this.neverAnswers) return new Promise<LogPage>(() => undefined);
    const head = this.currentHead();
    if (revision < this.firstKept) return Promise.resolve({ head, changes: null });
    const after = this.changes.filter((change) => change.revision > revision);
    return Promise.resolve({ head, changes: after.slice(0, limit).map(toLoggedChange) });
  }

  continuation({ lineage, revision, digest }: Head): Promise<{ head: Head; isContinued: boolean }> {
    const head = this.currentHead();
    const inLog = this.changes.find((change) => change.revision === revision);
    const now = revision === head.revision ? head : inLog;
    const isContinued =
      lineage === head.lineage && revision >= this.firstKept && now?.digest === digest;
    return Promise.resolve({ head, isContinued });
  }

  /** Holds snapshots up after their head. @returns a function that lets them go on */
  holdSnapshots(): () => void {
    const gate = Promise.withResolvers<undefined>();
    this.held = gate.promise;
    return () => gate.resolve(undefined);
  }

  async *snapshot(): AsyncGenerator<SnapshotPart> {
    this.snapshotsRead++;
    const head = this.currentHead();
    const rows = Array.from(this.rules.verdicts, ([id, verdict]) =>
      toRow('domainRule', rule(id, verdict)),
    );
    yield { type: 'head', ...head };
    await this.held;
    for (let i = 0; i < rows.length; i += 10) {
      yield { type: 'rows', kind: 'domainRule', rows: rows.slice(i, i + 10) };
    }
  }

  catalogueImage(): Promise<null> {
    return Promise.resolve(null);
  }

  private append(operations: readonly Operation[]): PublishedChange {
    this.revision++;
    const { lineage, ...point } = this.currentHead();
    const change: Change = { ...point, operations };
    this.changes.push(change);
    return { lineage, ...encodeChange(change) };
  }
}

/** A follower's side: its own copy of the configuration. */
export class MemoryTarget implements FollowerTarget {
  rules = new Rules();
  /** The digest of each configuration that was in force, in order. */
  readonly digestsInForce: string[] = [];
  /** Makes the target skip the operations of the next change. */
  corruptNext = false;
  /** The next change fails with this error. */
  failNext: Error | null = null;

  async build(parts: AsyncIterable<SnapshotPart>): Promise<BuiltConfiguration> {
    const built = new Rules();
    let revision = -1;
    for await (const part of parts) {
      if (part.type === 'head') revision = part.revision;
      else for (const row of part.rows) built.put(row[0] as number, row[2] as 1 | 2);
    }
    return {
      revision,
      digest: built.digest.toString(),
      swapIn: () => {
        this.rules = built;
        this.digestsInForce.push(built.digest.toString());
      },
    };
  }

  apply(change: Change): string {
    const failure = this.failNext;
    this.failNext = null;
    if (failure !== null) throw failure;
    if (this.corruptNext) this.corruptNext = false;
    else this.rules.apply(change.operations);
    const digest = this.rules.digest.toString();
    this.digestsInForce.push(digest);
    return digest;
  }

  verdicts(): Record<string, 1 | 2> {
    return Object.fromEntries(this.rules.verdicts);
  }
}
