import type { Operation, PutOperation } from '@weir/config-model';
import { type CatalogueIndex, Policy } from '@weir/policy';

/** A policy remembers the ids of profiles that it had. */
const MAX_USES = 10_000;

/**
 * The policy that a resolver would have if there were no other subscriber. Making one takes milliseconds, so it is made
 * once, and is empty between two questions.
 */
export class SmallPolicy {
  private policy: Policy | null = null;
  private uses = 0;

  /** @param timeZone of the schedules. */
  constructor(private readonly timeZone: string) {}

  /** @param work gets the policy with these entities, and must not keep it. */
  with<T>(
    entities: readonly PutOperation[],
    catalogue: CatalogueIndex | null,
    work: (policy: Policy) => T,
  ): T {
    const policy = this.policy ?? new Policy({ timeZone: this.timeZone });
    // If anything below fails, the next question gets a new one.
    this.policy = null;
    policy.setCatalogue(catalogue);
    for (const entity of entities) policy.put(entity);
    const result = work(policy);
    const operations = entities.map(
      ({ kind, entity }) => ({ type: 'delete', kind, key: entity }) as Operation,
    );
    policy.apply({ revision: 0, digest: '', operations });
    policy.setCatalogue(null);
    this.uses = (this.uses + 1) % MAX_USES;
    this.policy = this.uses === 0 ? null : policy;
    return result;
  }
}
