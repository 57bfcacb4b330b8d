import { type AddressWords, bearerToken, findToken, sha256 } from '@weir/ops';
import type { Token } from './tokens-file.js';

export type TokenCheck =
  | { readonly caller: Token }
  /** `why` is for the log only. `isMissing`: the request has no credentials at all. */
  | { readonly caller: null; readonly why: string; readonly isMissing: boolean };

/** The tokens of `MANAGEMENT_TOKENS`. They are named by their position, and may do everything. */
export function environmentTokens(tokens: readonly string[]): Token[] {
  return tokens.map((token, i) => ({
    name: `env-${i + 1}`,
    digest: sha256(token),
    scope: 'replace',
    sources: undefined,
    expiresMs: Infinity,
  }));
}

/**
 * Finds the token of an `Authorization` header.
 * @param source null: unknown; only a token without `sources` is accepted.
 */
export function checkToken(
  tokens: readonly Token[],
  authorization: string | undefined,
  source: AddressWords | null,
  nowMs: number,
): TokenCheck {
  const refuse = (why: string): TokenCheck => {
    return { caller: null, why, isMissing: authorization === undefined };
  };
  const presented = bearerToken(authorization);
  if (presented === null) return refuse('no bearer token');
  const found = findToken(tokens, presented);
  if (found === null) return refuse('unknown token');
  if (nowMs >= found.expiresMs) return refuse(`token ${found.name} has expired`);
  if (found.sources && (source === null || !found.sources.set.has(source))) {
    return refuse(`token ${found.name} is not for this source`);
  }
  return { caller: found };
}
