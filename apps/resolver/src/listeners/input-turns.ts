import type { ClientAddress, SubscriberKey } from '@weir/clients';
import { TurnBudget } from '../query/turn-budget.js';

/** A connection with messages that have arrived. */
export interface Input {
  readonly client: ClientAddress;
  /** Handles one message. @returns whether there is another one to handle */
  handleNext(): boolean;
}

/**
 * Divides the time of the event loop between the connections of all listeners. A turn handles a bounded number of
 * messages. What is left waits: each subscriber has one message handled before the next one has its second, and so has
 * each connection of a subscriber.
 */
export class InputTurns {
  /** The waiting connections of each subscriber. The first subscriber is the next one. */
  private readonly waiting = new Map<string, Input[]>();
  private readonly budget: TurnBudget;
  /** For the next turn. Undefined: no message has been handled in this one. */
  private immediate: NodeJS.Immediate | undefined;

  /**
   * @param subscriber identifies the subscriber of a client
   * @param nowMs monotonic clock
   */
  constructor(
    private readonly subscriber: SubscriberKey,
    nowMs: () => number,
  ) {
    this.budget = new TurnBudget(nowMs);
  }

  /**
   * Asks to handle one message now.
   * @returns false when it must wait; then `handleNext` is called in later turns until it returns false
   */
  take(input: Input): boolean {
    if (this.immediate === undefined) this.startTurn();
    if (this.waiting.size === 0 && this.budget.take()) return true;
    const key = this.keyOf(input);
    const inputs = this.waiting.get(key);
    if (inputs === undefined) this.waiting.set(key, [input]);
    else inputs.push(input);
    return false;
  }

  private readonly onTurn = (): void => {
    this.immediate = undefined;
    if (this.waiting.size === 0) return;
    this.startTurn();
    for (const [key, inputs] of this.waiting) {
      if (!this.budget.take()) return;
      const input = inputs.shift();
      if (input?.handleNext() === true) inputs.push(input);
      // The map keeps the order of insertion, and this loop comes to what is inserted meanwhile.
      this.waiting.delete(key);
      if (inputs.length > 0) this.waiting.set(key, inputs);
    }
  };

  private startTurn(): void {
    this.budget.start();
    this.immediate = setImmediate(this.onTurn);
  }

  private keyOf({ client }: Input): string {
    const { subscriber } = this;
    subscriber.identify(client);
    return `${subscriber.first} ${subscriber.second}`;
  }
}
