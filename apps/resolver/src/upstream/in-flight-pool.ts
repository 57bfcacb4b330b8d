import type { Exchange } from '../query/exchange.js';
import { type Question, questionKey, questionTag } from '../query/question.js';
import { InFlight, NO_ERROR } from './in-flight.js';

/** The questions in flight: at most `capacity`, each only once. Entries are reused. */
export class InFlightPool {
  private readonly free: InFlight[] = [];
  private readonly active: InFlight[] = [];
  private readonly buckets: (InFlight | null)[];

  constructor(private readonly capacity: number) {
    const count = 2 ** Math.ceil(Math.log2(capacity * 2));
    this.buckets = Array.from({ length: count }, () => null);
  }

  get size(): number {
    return this.active.length;
  }

  get isFull(): boolean {
    return this.active.length >= this.capacity;
  }

  at(position: number): InFlight {
    return this.active[position];
  }

  /** The entry of the question, or null. */
  find(question: Question): InFlight | null {
    let entry = this.buckets[this.bucketOf(question)];
    while (entry !== null && !entry.asks(question)) entry = entry.nextInBucket;
    return entry;
  }

  /**
   * The pool must not be full.
   * @returns an entry with copies of exchange and question, which must not be in flight yet
   */
  take(exchange: Exchange, question: Question): InFlight {
    const entry = this.free.pop() ?? new InFlight();
    entry.setQuestion(exchange, question);
    entry.position = this.active.length;
    entry.isHidden = false;
    entry.attemptCount = 0;
    entry.isLate = false;
    entry.errorRcode = NO_ERROR;
    this.active.push(entry);
    const bucket = this.bucketOf(entry.question);
    entry.nextInBucket = this.buckets[bucket];
    this.buckets[bucket] = entry;
    return entry;
  }

  /** Closes all attempts and removes the entry from the active ones. `release` makes it available for reuse. */
  end(entry: InFlight): void {
    for (let i = 0; i < entry.attemptCount; i++) entry.endAttempt(i);
    entry.generation++;
    if (!entry.isHidden) this.unlink(entry);
    const last = this.active.pop();
    if (last !== undefined && last !== entry) {
      this.active[entry.position] = last;
      last.position = entry.position;
    }
    entry.position = -1;
  }

  /** From now on `find` does not find the entry, so the same question may be taken once more. */
  hide(entry: InFlight): void {
    if (entry.isHidden) return;
    entry.isHidden = true;
    this.unlink(entry);
  }

  release(entry: InFlight): void {
    this.free.push(entry);
  }

  private unlink(entry: InFlight): void {
    const bucket = this.bucketOf(entry.question);
    let before = this.buckets[bucket];
    if (before === entry) {
      this.buckets[bucket] = entry.nextInBucket;
      return;
    }
    while (before !== null && before.nextInBucket !== entry) before = before.nextInBucket;
    if (before !== null) before.nextInBucket = entry.nextInBucket;
  }

  private bucketOf({ nameHashLow, query }: Question): number {
    return questionTag(nameHashLow, questionKey(query)) & (this.buckets.length - 1);
  }
}
