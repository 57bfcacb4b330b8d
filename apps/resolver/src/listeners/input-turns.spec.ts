import { ClientAddress, SubscriberKey } from '@weir/clients';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { beforeEach, describe, expect, it } from 'vitest';
import { type Input, InputTurns } from './input-turns.js';

let handled: string[] = [];
let turns: InputTurns;
beforeEach(() => {
  handled = [];
  turns = new InputTurns(new SubscriberKey({ policy: null }, 1), () => 0);
});

/** A connection with that many messages. */
function connection(name: string, address: string, messages: number): Input {
  const client = new ClientAddress();
  client.set(address, 1024);
  let left = messages;
  const handleNext = () => {
    if (left-- > 0) handled.push(name);
    return left > 0;
  };
  return { client, handleNext };
}

/** Uses up the time of this turn. */
function fillTurn(): void {
  const input = connection('filler', '192.0.2.3', 0);
  while (turns.take(input));
}

describe('InputTurns', () => {
  it('handles a message at once while there is time in this turn', () => {
    expect(turns.take(connection('a', '192.0.2.1', 1))).toBe(true);
  });

  it('handles a bounded number of messages in a turn, and all in the end', async () => {
    fillTurn();
    turns.take(connection('a', '192.0.2.1', 100));
    await nextTurn();
    expect(handled.length).toBeGreaterThan(0);
    expect(handled.length).toBeLessThan(50);
    while (handled.length < 100) await nextTurn();
  });

  it('gives each connection of a subscriber a message in turn', async () => {
    fillTurn();
    turns.take(connection('a', '192.0.2.1', 3));
    turns.take(connection('b', '192.0.2.1', 2));
    await nextTurn();
    expect(handled).toEqual(['a', 'b', 'a', 'b', 'a']);
  });

  it('gives each subscriber a message in turn, however many connections one has', async () => {
    fillTurn();
    for (let i = 0; i < 128; i++) turns.take(connection('many', '192.0.2.1', 9));
    turns.take(connection('one', '192.0.2.2', 1));
    await nextTurn();
    expect(handled.slice(0, 3)).toEqual(['many', 'one', 'many']);
  });
});
