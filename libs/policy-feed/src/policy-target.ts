import type { BuiltConfiguration, FollowerTarget, SnapshotPart } from '@weir/change-feed';
import { type ActiveCatalogue, type Change, fromRow, type Row, RowError } from '@weir/config-model';
import { type CatalogueIndex, Policy } from '@weir/policy';
import { setImmediate as yieldToQueries } from 'node:timers/promises';

export interface PolicyTargetOptions {
  /** Zone of the schedules. */
  readonly timeZone: string;
  /** Fetches and verifies an image. @throws when it cannot be had; the follower tries again. */
  readonly openCatalogue: (catalogue: ActiveCatalogue) => Promise<CatalogueIndex>;
}

/** The configuration in force in this process: the follower's target, and the source of the policy for queries. */
export class PolicyTarget implements FollowerTarget {
  private inForce: Policy | null = null;

  constructor(private readonly options: PolicyTargetOptions) {}

  /** The policy that decides queries; null before the first snapshot. */
  get policy(): Policy | null {
    return this.inForce;
  }

  /** Queries go on being answered by the old policy: the building stops for them after each part. */
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
      await yieldToQueries();
    }
    if (revision < 0) throw new RowError('a snapshot without a head');
    policy.setRevision(revision);
    if (catalogue !== null) policy.setCatalogue(await this.options.openCatalogue(catalogue));
    return {
      revision,
      digest: policy.digest(),
      swapIn: () => {
        this.inForce = policy;
      },
    };
  }

  /** Fetches the catalogue first when the change activates one, so that the rest is one step between two queries. */
  async apply(change: Change): Promise<string> {
    const policy = this.inForce;
    if (policy === null) throw new Error('a change before the first snapshot');
    const catalogue = catalogueAfter(change);
    const index = catalogue ? await this.options.openCatalogue(catalogue) : null;
    policy.apply(change);
    if (catalogue !== undefined) policy.setCatalogue(index);
    return policy.digest();
  }
}

function lastCatalogue(rows: readonly Row[]): ActiveCatalogue | null {
  const row = rows.at(-1);
  return row === undefined ? null : fromRow('catalogue', row);
}

/** The catalogue that the change leaves active; null: none; undefined: the change is not about it. */
function catalogueAfter(change: Change): ActiveCatalogue | null | undefined {
  let catalogue: ActiveCatalogue | null | undefined;
  for (const operation of change.operations) {
    if (operation.type === 'reload' || operation.kind !== 'catalogue') continue;
    catalogue = operation.type === 'put' ? operation.entity : null;
  }
  return catalogue;
}
