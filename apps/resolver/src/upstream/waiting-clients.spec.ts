import { SubscriberKey } from '@weir/clients';
import { Response } from '@weir/dns-wire';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { expect, it, onTestFinished } from 'vitest';
import { ForwardingCounts } from '../metrics/forwarding-counts.js';
import { Exchange } from '../query/exchange.js';
import { InFlight } from './in-flight.js';
import { SubscriberShares } from './subscriber-shares.js';
import { WaitingClients } from './waiting-clients.js';

/** More than are answered in one turn. */
const CLIENTS = 100;

it('answers all clients that wait although the callback of some of them throws', async () => {
  const answered: Exchange[] = [];
  const defects: unknown[] = [];
  const events = {
    onResponse(exchange: Exchange): void {
      answered.push(exchange);
      if (answered.length % 40 === 1) throw new Error(`client ${answered.length}`);
    },
    onDefect: (error: unknown) => defects.push(error),
  };
  const subscriber = new SubscriberKey({ policy: null }, 7);
  const shares = new SubscriberShares([128, 128], {
    subscriber,
    maxQuestions: 128,
    maxWaiting: 128,
  });
  const { own: counts } = new ForwardingCounts(new Float64Array(ForwardingCounts.sizeFor(0)));
  const clients = new WaitingClients(events, CLIENTS, shares, () => 0, counts);
  onTestFinished(() => clients.close());

  const entry = new InFlight();
  clients.add(entry);
  for (let i = 0; i < CLIENTS; i++) {
    const exchange = new Exchange();
    exchange.client.setIpv4(0xc000_0200 + i, 5353);
    expect(clients.join(entry, exchange)).toBe(true);
  }
  clients.answerAll(entry, new Response());
  for (let turn = 0; turn < CLIENTS; turn++) await nextTurn();

  expect(answered).toHaveLength(CLIENTS + 1);
  expect(defects.map(String)).toEqual(['Error: client 1', 'Error: client 41', 'Error: client 81']);
  expect([...counts, clients.isFull]).toEqual([0, 0, 0, CLIENTS, 0, 0, false]);
});
