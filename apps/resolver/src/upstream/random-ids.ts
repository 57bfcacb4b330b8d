import { randomFillSync } from 'node:crypto';

const BATCH = 2048;

/**
 * Unpredictable 16-bit numbers, so that an attacker cannot guess the id of a query (RFC 5452 §9.2). Drawn from the
 * system in batches.
 */
export class RandomIds {
  private readonly batch = new Uint16Array(BATCH);
  private used = BATCH;

  next(): number {
    if (this.used === BATCH) {
      randomFillSync(this.batch);
      this.used = 0;
    }
    return this.batch[this.used++];
  }
}
