import { hash, timingSafeEqual } from 'node:crypto';

/** A bearer token, of which only the SHA-256 is known. */
export interface HashedToken {
  readonly digest: Buffer;
}

export function sha256(text: string): Buffer {
  return hash('sha256', text, 'buffer');
}

/** The bearer token of an `Authorization` header (RFC 6750 §2.1); null: it has none. */
export function bearerToken(authorization: string | undefined): string | null {
  return /^Bearer +(\S+)$/i.exec(authorization ?? '')?.[1] ?? null;
}

/** Whether an `Authorization` header has one of these bearer tokens. */
export function hasToken(authorization: string | undefined, tokens: readonly string[]): boolean {
  const hashed = tokens.map((token) => ({ digest: sha256(token) }));
  return findToken(hashed, bearerToken(authorization) ?? '') !== null;
}

/** The token that was presented, if it is one of these. All are compared, in constant time. */
export function findToken<T extends HashedToken>(
  tokens: readonly T[],
  presented: string,
): T | null {
  const digest = sha256(presented);
  let found: T | null = null;
  for (const token of tokens) if (timingSafeEqual(token.digest, digest)) found = token;
  return found;
}
