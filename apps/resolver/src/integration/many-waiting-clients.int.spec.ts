import { SubscriberKey } from '@weir/clients';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { expect, it } from 'vitest';
import { forwarder, SILENCE, upstream } from '../testing/forwarding.js';
import type { Forwarder } from '../upstream/forwarder.js';

const CLIENTS = 16_384;
/** A hundred times the share of work of one turn (`TurnBudget`), so that a busy machine makes no difference. */
const MAX_HOLD_MS = 5;

/** Processor time of this thread, in milliseconds. */
function threadMs(): number {
  const { user, system } = process.threadCpuUsage();
  return (user + system) / 1000;
}

/** Runs turns of the event loop until no client waits. @returns the turns in which one was answered, longest first */
async function holdsMs(subject: Forwarder): Promise<number[]> {
  const holds: number[] = [];
  while (subject.waiting > 0) {
    const { waiting } = subject;
    const [wallMs, workMs] = [performance.now(), threadMs()];
    await nextTurn();
    // What other processes do to the machine does not count; and processor time comes in ticks of some milliseconds.
    const holdMs = Math.min(performance.now() - wallMs, threadMs() - workMs);
    if (subject.waiting < waiting) holds.push(holdMs);
  }
  return holds.sort((x, y) => y - x);
}

it('16,384 clients that wait for a name that times out are all answered, without holding the thread', async () => {
  const silent = await upstream(() => null);
  let answered = 0;
  let failed = 0;
  const { subject, exchangeOf } = forwarder([silent.endpoint], {
    attemptTimeoutMs: 500,
    queryTimeoutMs: 1_000,
    // One subscriber may have half of it.
    waitingCapacity: 2 * CLIENTS,
    share: {
      subscriber: new SubscriberKey({ policy: null }, 1),
      maxQuestions: 8192,
      maxWaiting: CLIENTS,
    },
    events: {
      hasStale: () => false,
      onDefect: (error) => {
        throw error;
      },
      onCompleted: () => undefined,
      onResponse: (_exchange, { rcode }) => {
        answered++;
        if (rcode === SILENCE.rcode) failed++;
      },
    },
  });
  const exchange = exchangeOf('www.dead.example');
  for (let i = 0; i < CLIENTS; i++) subject.forward(exchange, exchange);
  expect(subject.waiting).toBe(CLIENTS);
  const holds = await holdsMs(subject);
  process.stdout.write(`longest hold: ${holds[0].toFixed(2)} ms of ${holds.length} turns\n`);
  expect([answered, failed]).toEqual([CLIENTS, CLIENTS]);
  // Garbage collection and the ticks may lengthen a few turns.
  expect(holds[Math.floor(holds.length / 100)]).toBeLessThan(MAX_HOLD_MS);
});
