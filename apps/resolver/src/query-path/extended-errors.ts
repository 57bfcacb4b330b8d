import { Ede } from '@weir/dns-wire';

/** An Extended DNS Error of an answer without records (RFC 8914 §2). */
export interface ExtendedError {
  /** An INFO-CODE or `Ede.none`. */
  readonly code: number;
  /** EXTRA-TEXT. */
  readonly text: Uint8Array;
}

const extendedError = (code: number, text = ''): ExtendedError => ({
  code,
  text: new TextEncoder().encode(text),
});

/** Texts are fixed and short: they hold nothing of the query, and the answer always has room for them. */
export const ExtendedErrors = {
  none: extendedError(Ede.none),
  notReady: extendedError(Ede.notReady, 'this resolver is not ready'),
  prohibited: extendedError(Ede.prohibited, 'not a client of this resolver'),
  notRecursive: extendedError(Ede.notAuthoritative),
  deadZone: extendedError(Ede.noReachableAuthority, 'too many queries for this zone wait'),
  overloaded: extendedError(Ede.other, 'too many queries wait for upstream resolvers'),
  tooManyTargets: extendedError(Ede.other, 'too many targets in the answer'),
} as const;
