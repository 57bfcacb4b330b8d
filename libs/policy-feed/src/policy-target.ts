import {
  type BuiltConfiguration,
  type FollowerTarget,
  type ImageFollower,
  type SnapshotPart,
  Yielder,
} from '@weir/change-feed';
import {
  type ActiveCatalogue,
  type Change,
  FlatRows,
  fromRow,
  type Row,
  RowError,
} from '@weir/config-model';
import { type CatalogueIndex, type ChunkMemory, Policy, SharedPolicyWriter } from '@weir/policy';
import { setImmediate as yieldToEventLoop } from 'node:timers/promises';

/** Fetches the image of the active catalogue, and then calls `useCatalogue`. */
export type CatalogueSource = Pick<
  ImageFollower,
  'want' | 'missing' | 'version' | 'failures' | 'counters' | 'firstAttempt' | 'stop'
>;

interface PolicyTargetOptions {
  /** IANA time zone of the schedules. */
  readonly timeZone: string;
  /** Most threads that read the policy beside this one; 0 unless given. */
  readonly readers?: number;
  readonly memory?: ChunkMemory | undefined;
}

/** Most naps of a millisecond in which a step waits for each reader. Then the event loop has its turn. */
const MAX_NAPS = 5;
/**
 * Most operations that are applied at once, while no reader reads. This takes less than a millisecond. For an address
 * with thousands of NAPT ranges it takes a few milliseconds.
 */
const MAX_IN_PLACE = 100;
/** Rows of a snapshot that are loaded at once: profiles with long lists take half a millisecond. */
const ROWS_AT_ONCE = 50;

/**
 * The target of the follower, and the source of the policy for queries. The change log never waits for the image of a
 * catalogue: until it is there, the one before stays in use. The first policy decides no query without the image that
 * it names, because it would let blocked categories through.
 */
export class PolicyTarget implements FollowerTarget {
  /** Follows the log. */
  private followed: Policy | null = null;
  /** The policy that decides queries; null before the first snapshot and the image that it names. */
  policy: Policy | null = null;
  private index: CatalogueIndex | null = null;
  private lastStep: Promise<unknown> = Promise.resolve();

  readonly writer: SharedPolicyWriter;

  constructor(
    private readonly options: PolicyTargetOptions,
    readonly catalogues: CatalogueSource,
  ) {
    this.writer = new SharedPolicyWriter(options.readers ?? 0);
  }

  /** Builds a new policy. The old one decides queries meanwhile; the build yields to them after two milliseconds. */
  async build(parts: AsyncIterable<SnapshotPart>): Promise<BuiltConfiguration> {
    const policy = new Policy(this.options);
    let catalogue: ActiveCatalogue | null = null;
    let revision = -1;
    const yielder = new Yielder();
    for await (const part of parts) {
      if (part.type === 'head') {
        revision = part.revision;
        continue;
      }
      const rows = part.rows instanceof FlatRows ? part.rows : FlatRows.of(part.rows);
      for (const piece of rows.pieces(ROWS_AT_ONCE)) {
        policy.load(part.kind, piece);
        if (yielder.isDue) await yielder.yieldNow();
      }
      if (part.kind === 'catalogue') catalogue = lastCatalogue(rows) ?? catalogue;
    }
    if (revision < 0) throw new RowError('a snapshot without a head');
    policy.setRevision(revision);
    return {
      revision,
      digest: policy.digest(),
      swapIn: async () => {
        await this.afterLastStep(() => this.follow(policy));
        this.catalogues.want(catalogue);
      },
    };
  }

  /** Applies a change between two queries, for all threads at once: a small one in place, a large one to a fork. */
  async apply(change: Change): Promise<string> {
    const policy = this.followed;
    if (policy === null) throw new Error('a change before the first snapshot');
    const isLarge = change.operations.length > MAX_IN_PLACE;
    const digest = await this.afterLastStep(() =>
      isLarge ? this.applyAside(policy, change) : this.applyInPlace(policy, change),
    );
    const catalogue = catalogueAfter(change);
    if (catalogue !== undefined) this.catalogues.want(catalogue);
    return digest;
  }

  /** Puts an image in use, in one step between two queries. Null: none. */
  async useCatalogue(index: CatalogueIndex | null): Promise<void> {
    await this.afterLastStep(async () => {
      this.index = index;
      const policy = this.followed;
      if (policy === null) return;
      await this.step(policy, () => policy.setCatalogue(index));
      if (policy !== this.policy) await this.putInForce(policy);
    });
  }

  complete(): Promise<void> {
    return this.catalogues.firstAttempt();
  }

  stop(): Promise<void> {
    return this.catalogues.stop();
  }

  /** One after the other: a policy that is about to be put in force must not change. */
  private afterLastStep<T>(step: () => Promise<T>): Promise<T> {
    const done = this.lastStep.then(step);
    this.lastStep = done.catch(() => undefined);
    return done;
  }

  private async applyInPlace(policy: Policy, change: Change): Promise<string> {
    await this.step(policy, () => policy.apply(change));
    if (policy !== this.policy) await this.putInForce(policy);
    return policy.digest();
  }

  /** The policy decides queries while the change is applied to its fork. */
  private async applyAside(policy: Policy, change: Change): Promise<string> {
    const yielder = new Yielder();
    const fork = policy.fork();
    try {
      await applyInSteps(fork, change, yielder);
      await this.putInForce(fork);
      this.followed = fork;
      return fork.digest();
    } finally {
      fork.endFork();
    }
  }

  private async follow(policy: Policy): Promise<void> {
    policy.setCatalogue(this.index);
    this.followed = policy;
    await this.putInForce(policy);
  }

  private async putInForce(policy: Policy): Promise<void> {
    const mayDecide = this.policy !== null || this.index !== null || !namesCatalogue(policy);
    if (!mayDecide) return;
    await untilTrue(() => this.writer.trySwap(policy, MAX_NAPS));
    const before = this.policy;
    this.policy = policy;
    before?.release(policy);
  }

  private async step(policy: Policy, step: () => void): Promise<void> {
    if (policy === this.policy) await untilTrue(() => this.writer.tryChange(step, MAX_NAPS));
    else step();
  }
}

/** @param policy which decides nothing meanwhile */
async function applyInSteps(policy: Policy, change: Change, yielder: Yielder): Promise<void> {
  for (const steps = policy.applyInSteps(change); steps.next().done !== true;) {
    if (yielder.isDue) await yielder.yieldNow();
  }
}

/** Tries again until a reader that did not leave has left. */
async function untilTrue(attempt: () => boolean): Promise<void> {
  while (!attempt()) await yieldToEventLoop();
}

function namesCatalogue(policy: Policy): boolean {
  return policy.counts().catalogue > 0;
}

function lastCatalogue(rows: Iterable<Row>): ActiveCatalogue | null {
  const row = [...rows].at(-1);
  return row === undefined ? null : fromRow('catalogue', row);
}

/** The catalogue that is active after the change; null: none; undefined: the change does not concern it. */
function catalogueAfter(change: Change): ActiveCatalogue | null | undefined {
  let catalogue: ActiveCatalogue | null | undefined;
  for (const operation of change.operations) {
    if (operation.type === 'reload' || operation.kind !== 'catalogue') continue;
    catalogue = operation.type === 'put' ? operation.entity : null;
  }
  return catalogue;
}
