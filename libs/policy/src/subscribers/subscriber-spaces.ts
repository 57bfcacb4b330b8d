import type { Space } from '../memory/space.js';

/** The memory of `Subscribers`. */
export interface SubscriberSpaces {
  readonly naptAddresses: Space;
  readonly naptRanges: Space;
  readonly ipv4Long: Space;
  readonly ipv4Short: Space;
  readonly ipv6Short: Space;
  readonly ipv6Long: Space;
}
