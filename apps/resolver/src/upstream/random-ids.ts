import { randomFillSync } from 'node:crypto';

const DRAWN_AT_ONCE = 2048;

/**
 * Unpredictable 16-bit numbers, so that an attacker cannot guess the id of a query (RFC 5452 §9.2). Drawn from the
 * system many at once.
 */
export class RandomIds {
  private readonly drawn = new Uint16Array(DRAWN_AT_ONCE);
  private used = DRAWN_AT_ONCE;

  next(): number {
    if (this.used === DRAWN_AT_ONCE) {
      randomFillSync(this.drawn);
      this.used = 0;
    }
    return this.drawn[this.used++];
  }
}
