import { createHash, timingSafeEqual } from 'node:crypto';

/**
 * The bearer tokens that an API accepts. There may be several, so that one can be replaced without an outage.
 */
export class BearerTokens {
  private readonly digests: readonly Buffer[];

  constructor(tokens: readonly string[]) {
    this.digests = tokens.map(sha256);
  }

  /** Whether the `Authorization` header has one of the tokens. It compares every token in constant time. */
  accepts(authorization: string | undefined): boolean {
    const presented = sha256(/^Bearer +(\S+)$/i.exec(authorization ?? '')?.[1] ?? '');
    let accepted = false;
    for (const digest of this.digests) accepted = timingSafeEqual(digest, presented) || accepted;
    return accepted;
  }
}

function sha256(text: string): Buffer {
  return createHash('sha256').update(text).digest();
}
