import { encodeQuery } from '@weir/dns-wire/testing';
import { describe, expect, it } from 'vitest';
import type { DnsService } from '../dns-service.js';
import type { DropReason } from '../query/exchange.js';
import type { Server } from '../testing/client.js';
import { holdLanes, serveByLanes, udpClients } from '../testing/lane-service.js';
import { droppedFor } from '../testing/listeners.js';

/** More than two batches. */
const QUERIES = 150;

/** Sends queries. They are in the receive buffer when this resolves. @returns the ids of the answers */
async function send({ address, port }: Server): Promise<Set<number>> {
  const [client] = await udpClients(1);
  const answered = new Set<number>();
  client.on('message', (answer) => answered.add(answer.readUInt16BE(0)));
  for (let id = 1; id <= QUERIES; id++) {
    const packet = encodeQuery('www.blocked.example', 1, { id });
    await new Promise((resolve) => {
      client.send(packet, port, address, resolve);
    });
  }
  return answered;
}

const dropped = (service: DnsService, why: keyof typeof DropReason): number =>
  droppedFor(service.counts.queries, why) ?? 0;

describe('no query is lost unseen', () => {
  it('when a resolver stops: what had arrived before is answered', async () => {
    const { server, service, source } = await serveByLanes();
    const release = holdLanes(source);
    const answered = await send(server);
    const stopped = service.stop();
    release();
    await stopped;
    await expect.poll(() => answered.size).toBe(QUERIES);
  });

  it('when its socket is closed: what was not received is counted', async () => {
    const { server, service } = await serveByLanes();
    await service.lanes.stop();
    await send(server);
    await service.stop();
    expect(dropped(service, 'draining')).toBe(QUERIES);
  });
});
