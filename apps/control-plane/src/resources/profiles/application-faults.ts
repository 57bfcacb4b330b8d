import type { ApplicationRule } from '@weir/config-model';
import { type Fault, type FaultLocation, MAX_FAULTS } from '../../http/validation/fault.js';

/** A fault for each duplicate application and each that is not in the catalogue (decisions §2), up to `MAX_FAULTS`. */
export function applicationFaults(
  rules: readonly ApplicationRule[],
  applications: ReadonlyMap<number, string>,
  locationOf: (i: number) => FaultLocation,
): Fault[] {
  const faults: Fault[] = [];
  const seen = new Set<number>();
  for (const [i, { applicationId }] of rules.entries()) {
    if (faults.length >= MAX_FAULTS) break;
    if (seen.has(applicationId)) {
      const msg = `Application ${applicationId} is a duplicate`;
      faults.push({ loc: locationOf(i), msg, type: 'duplicate' });
    } else if (!applications.has(applicationId)) {
      const msg = `The catalogue has no application ${applicationId}`;
      faults.push({ loc: locationOf(i), msg, type: 'reference' });
    }
    seen.add(applicationId);
  }
  return faults;
}
