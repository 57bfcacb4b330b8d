import { ClientAddress, SubscriberKey } from '@weir/clients';
import { parseHashKey } from '@weir/dns-name';
import { type Policy, SharedPolicyWriter } from '@weir/policy';
import { HASH_KEY_HEX, loopback, policyOf, profile } from '@weir/policy-feed/testing';
import { MessageChannel } from 'node:worker_threads';
import { describe, expect, it } from 'vitest';
import { readersOf } from './policy-readers.js';
import { ReadPolicy, SubscriberKeyInTurns } from './read-policy.js';

const NO_NAPS = 0;

/** A policy in force, and its one reader. */
async function connect() {
  const writer = new SharedPolicyWriter(1);
  writer.trySwap(policyOf(profile(1), loopback(1)), NO_NAPS);
  const readers = readersOf(writer);
  const { port1, port2 } = new MessageChannel();
  readers.connect(0, port1);
  const read = await ReadPolicy.connect(port2, parseHashKey(HASH_KEY_HEX));
  const tryChange = (): boolean =>
    writer.tryChange(() => {
      const { revision } = writer.policy!;
      writer.policy!.apply({ revision: revision + 1, digest: '', operations: [profile(2)] });
    }, NO_NAPS);
  return { writer, readers, read, tryChange };
}

describe('ReadPolicy', () => {
  it('stays as it is for a turn, and for those within it', async () => {
    const { read, tryChange } = await connect();
    read.enter();
    read.enter();
    read.leave();
    expect(read.policy).not.toBeNull();
    expect(tryChange()).toBe(false);
    read.leave();
    expect(tryChange()).toBe(true);
  });

  it('is not there between turns', async () => {
    const { read } = await connect();
    expect(read.policy).toBeNull();
    read.enter();
    read.leave();
    expect(read.policy).toBeNull();
  });

  it('sees the policy that is in force', async () => {
    const { writer, read } = await connect();
    writer.trySwap(policyOf(profile(1)), NO_NAPS);
    read.enter();
    expect(read.policy).not.toBeNull();
    read.leave();
    writer.trySwap(null, NO_NAPS);
    read.enter();
    expect(read.policy).toBeNull();
    read.leave();
  });
});

it('SubscriberKeyInTurns identifies subscribers as the thread that changes the policy does', async () => {
  const { writer, read, tryChange } = await connect();
  const source = { policy: writer.policy as Policy };
  const client = new ClientAddress();
  client.set('127.0.0.1', 53);
  const [own, inTurns] = [new SubscriberKey(source, 7), new SubscriberKeyInTurns(read, 7)];
  for (const key of [own, inTurns]) key.identify(client);
  expect([inTurns.first, inTurns.second]).toEqual([own.first, own.second]);
  expect(tryChange()).toBe(true);
});
