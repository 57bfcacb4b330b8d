import type { BuiltConfiguration, FollowerTarget, SnapshotPart } from '@weir/change-feed';
import { type ActiveCatalogue, type Change, fromRow, type Row, RowError } from '@weir/config-model';
import { type CatalogueIndex, Policy, PolicyShare } from '@weir/policy';
import { setImmediate as yieldToEventLoop } from 'node:timers/promises';

export interface PolicyTargetOptions {
  /** IANA time zone of the schedules. */
  readonly timeZone: string;
  /** Loads and verifies an image. @throws when that fails; the follower retries. */
  readonly openCatalogue: (catalogue: ActiveCatalogue) => Promise<CatalogueIndex>;
  /** Most threads that read the policy beside this one; 0 unless given. */
  readonly readers?: number;
}

/** Most milliseconds that a step waits for each reader before the event loop has its turn. */
const PATIENCE_NAPS = 5;

/** The target of the follower, and the source of the policy for queries. */
export class PolicyTarget implements FollowerTarget {
  private inForce: Policy | null = null;

  /** Other threads read the policy through it. */
  readonly share: PolicyShare;

  constructor(private readonly options: PolicyTargetOptions) {
    this.share = new PolicyShare(options.readers ?? 0);
  }

  /** The policy that decides queries; null before the first snapshot. */
  get policy(): Policy | null {
    return this.inForce;
  }

  /** Builds a new policy. The old one decides queries meanwhile; the build yields to them after each part. */
  async build(parts: AsyncIterable<SnapshotPart>): Promise<BuiltConfiguration> {
    const policy = new Policy({ timeZone: this.options.timeZone });
    let catalogue: ActiveCatalogue | null = null;
    let revision = -1;
    for await (const part of parts) {
      if (part.type === 'head') {
        revision = part.revision;
        continue;
      }
      policy.load(part.kind, part.rows);
      if (part.kind === 'catalogue') catalogue = lastCatalogue(part.rows) ?? catalogue;
      await yieldToEventLoop();
    }
    if (revision < 0) throw new RowError('a snapshot without a head');
    policy.setRevision(revision);
    if (catalogue !== null) policy.setCatalogue(await this.options.openCatalogue(catalogue));
    return {
      revision,
      digest: policy.digest(),
      swapIn: async () => {
        await untilTrue(() => this.share.trySwap(policy, PATIENCE_NAPS));
        this.inForce = policy;
      },
    };
  }

  /**
   * Applies the change in one step between two queries, for all threads at once. A catalogue that it activates is
   * loaded before that step.
   */
  async apply(change: Change): Promise<string> {
    const policy = this.inForce;
    if (policy === null) throw new Error('a change before the first snapshot');
    const catalogue = catalogueAfter(change);
    const index = catalogue ? await this.options.openCatalogue(catalogue) : null;
    const step = (): void => {
      policy.apply(change);
      if (catalogue !== undefined) policy.setCatalogue(index);
    };
    await untilTrue(() => this.share.tryChange(step, PATIENCE_NAPS));
    return policy.digest();
  }
}

/** Tries again until a reader that did not leave has left, or its thread has ended. */
async function untilTrue(attempt: () => boolean): Promise<void> {
  while (!attempt()) await yieldToEventLoop();
}

function lastCatalogue(rows: readonly Row[]): ActiveCatalogue | null {
  const row = rows.at(-1);
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
