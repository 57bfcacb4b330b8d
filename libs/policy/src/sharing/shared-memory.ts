import type { Policy } from '../policy.js';
import { changesSince, knownChunks, type KnownChunks } from '../policy-spaces.js';
import type { PolicyMessage } from './policy-messages.js';

/** A policy that is shared, and what its readers know of its memory. */
export class SharedMemory {
  private known: KnownChunks = {};
  private knownCatalogue: unknown = undefined;

  constructor(
    readonly number: number,
    readonly policy: Policy,
  ) {}

  /** All of it. From now on readers know it. */
  whole(): PolicyMessage {
    this.known = {};
    this.knownCatalogue = undefined;
    return this.changes();
  }

  /** All of it, for readers that know another policy. */
  wholeAfter(other: SharedMemory | null): PolicyMessage {
    if (other === null || !this.policy.isForkOf(other.policy)) return this.whole();
    this.known = other.known;
    this.knownCatalogue = other.knownCatalogue;
    return { ...this.changes(), origin: other.number };
  }

  /** What has changed since; null: nothing that readers need to know. */
  takeChanges(): PolicyMessage | null {
    const message = this.changes();
    return 'catalogue' in message || Object.keys(message.changes).length > 0 ? message : null;
  }

  private changes(): PolicyMessage {
    const { policy } = this;
    const catalogue = policy.catalogue === null ? null : policy.catalogue.shareable;
    if (catalogue === undefined)
      throw new Error('the catalogue of a shared policy is not shareable');
    const message = {
      policy: this.number,
      timeZone: policy.timeZone,
      changes: changesSince(policy.spaces, this.known),
      ...(catalogue !== this.knownCatalogue && { catalogue }),
    };
    this.known = knownChunks(policy.spaces);
    this.knownCatalogue = catalogue;
    return message;
  }
}
