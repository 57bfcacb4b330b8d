import { decodeMessage, type DecodedMessage, encodeQuery } from '@weir/dns-wire/testing';
import { parseCidrs } from '@weir/ops';
import { policyOf } from '@weir/policy-feed/testing';
import type { Socket } from 'node:dgram';
import { expect, onTestFinished } from 'vitest';
import type { DnsServiceOptions } from '../dns-service.js';
import { udpClient } from './client.js';
import type { CONFIGURATION } from './configuration.js';
import { upstream } from './forwarding.js';
import { createService } from './service.js';
import type { SharedSource } from './shared-source.js';
import { TestClock } from './test-clock.js';
import type { Answerer } from './upstream-server.js';

export interface ClockedOptions {
  /** How the only upstream answers. */
  readonly answer: Answerer;
  readonly variables?: Partial<typeof CONFIGURATION>;
  readonly forwarding?: DnsServiceOptions['forwarding'];
  readonly source?: SharedSource;
  /** What the wall clock says until `skipWall` moves it; undefined: the real time. */
  readonly wallMs?: number;
}

/** A service that serves 127.0.0.0/8, with one upstream, on a clock that only `skip` moves. */
export async function clockedService(options: ClockedOptions) {
  const { answer, variables, forwarding, source = { policy: policyOf() }, wallMs } = options;
  const server = await upstream(answer);
  const clock = new TestClock({ monotonicMs: 0, ...(wallMs !== undefined && { wallMs }) });
  const service = createService(
    { DNS_ALLOWED_CLIENTS: parseCidrs(['127.0.0.0/8']), ...variables },
    {
      upstreams: [server.endpoint],
      source,
      times: clock.times,
      ...(forwarding && { forwarding }),
    },
  );
  const address = await service.start();
  onTestFinished(() => service.stop());
  const { counts } = service;
  /** All answers that clients got. */
  const got: DecodedMessage[] = [];
  const sockets = new Map<string, Socket>();
  /** The socket of the client at that address. */
  const socketOf = async (client: string): Promise<Socket> => {
    const known = sockets.get(client);
    if (known !== undefined) return known;
    const socket = await udpClient(client);
    socket.on('message', (packet) => got.push(decodeMessage(packet)));
    sockets.set(client, socket);
    return socket;
  };
  let asked = 0;
  /** @returns the id of the query */
  const send = async (name: string, client = '127.0.0.1'): Promise<number> => {
    const socket = await socketOf(client);
    const packet = encodeQuery(name, 1, { id: asked, udpBytes: 1232 });
    socket.send(packet, address.port, address.address);
    return asked++;
  };
  /** The only answer to that query. */
  const answerTo = async (id: number): Promise<DecodedMessage> => {
    await expect.poll(() => got.some((message) => message.id === id)).toBe(true);
    const answers = got.filter((message) => message.id === id);
    expect(answers).toHaveLength(1);
    return answers[0];
  };
  const ask = async (name: string, client?: string): Promise<DecodedMessage> =>
    answerTo(await send(name, client));
  const skip = (ms: number): void => {
    clock.monotonicMs += ms;
  };
  const skipWall = (ms: number): void => {
    clock.times[0] += ms;
  };
  /** Moves the clock until no question is in flight. */
  const settle = () =>
    expect
      .poll(() => {
        skip(500);
        return counts.forwarding.inFlight;
      })
      .toBe(0);
  return { server, service, counts, send, answerTo, ask, skip, skipWall, settle, got };
}
