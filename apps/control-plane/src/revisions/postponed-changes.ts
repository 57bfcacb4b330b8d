import { isLockTimeout } from '../platform/database/database-errors.js';
import type { Deadline } from './deadline.js';
import { type Part, partText } from './parts.js';

/** A change that waits until a large change has let go of its part. */
interface Postponed {
  readonly part: Part;
  readonly deadline: Deadline;
  readonly resume: () => void;
  readonly fail: (reason: unknown) => void;
}

/**
 * Changes whose part a large change keeps, by part and in order. They hold neither the head nor a place in the queue,
 * so the changes of other parts go on.
 */
export class PostponedChanges {
  private readonly byPart = new Map<string, Postponed[]>();

  /** @param wait until nobody keeps the part any more. */
  constructor(private readonly wait: (part: Part, deadline: Deadline) => Promise<void>) {}

  /** Whether changes of the part wait here. Later ones must not overtake them. */
  has(part: Part | undefined): boolean {
    return part !== undefined && this.byPart.has(partText(part));
  }

  add(change: Postponed): void {
    const text = partText(change.part);
    const waiting = this.byPart.get(text);
    if (waiting !== undefined) {
      waiting.push(change);
      return;
    }
    this.byPart.set(text, [change]);
    this.wait(change.part, change.deadline).then(
      () => this.take(text).forEach(({ resume }) => resume()),
      (reason: unknown) => this.giveUp(text, reason),
    );
  }

  /** The deadlines of those behind the first are later, so they wait on. */
  private giveUp(text: string, reason: unknown): void {
    const [first, ...others] = this.take(text);
    first?.fail(reason);
    if (isLockTimeout(reason)) others.forEach((one) => this.add(one));
    else others.forEach(({ fail }) => fail(reason));
  }

  private take(text: string): readonly Postponed[] {
    const waiting = this.byPart.get(text) ?? [];
    this.byPart.delete(text);
    return waiting;
  }
}
