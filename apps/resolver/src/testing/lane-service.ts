import { encodeQuery, hexOf } from '@weir/dns-wire/testing';
import { createLogger } from '@weir/ops';
import { domainRule, loopback, policyOf, profile } from '@weir/policy-feed/testing';
import type { Socket } from 'node:dgram';
import { onTestFinished } from 'vitest';
import { a } from '../query/testing/records.js';
import { askUdp, udpClient } from './client.js';
import type { CONFIGURATION } from './configuration.js';
import { respond } from './respond.js';
import { createService, type TestServiceOptions } from './service.js';
import { SharedSource } from './shared-source.js';
import { UpstreamServer } from './upstream-server.js';

/** The last bytes of the answer to a query for `blocked.example`, or a name below it. */
export const BLOCKED = 'c0000250';
/** The same for any other name, from upstream. */
export const PERMITTED = 'c0000201';

/** A service with one lane, for the test that runs now. */
export async function serveByLanes(
  variables: Partial<typeof CONFIGURATION> = {},
  options: Partial<TestServiceOptions> = {},
) {
  const upstream = await UpstreamServer.start((query) =>
    respond(query, { answers: [a('192.0.2.1')] }),
  );
  onTestFinished(() => upstream.stop());
  const source = new SharedSource(
    policyOf(profile(1), loopback(1), domainRule(1, 'deny', 'blocked.example')),
  );
  const logged: string[] = [];
  const service = createService(variables, {
    upstreams: [upstream.endpoint],
    source,
    log: createLogger(
      { name: 'resolver', level: 'error' },
      { write: (line: string) => void logged.push((JSON.parse(line) as { msg: string }).msg) },
    ),
    ...options,
  });
  const server = await service.start();
  onTestFinished(() => service.stop());
  const ask = async (name: string): Promise<string> => {
    for (;;) {
      const answer = await askUdp(server, encodeQuery(name, 1), 10_000);
      // The one that a lane which ends has taken may be lost.
      if (answer !== null) return hexOf(answer.subarray(-4));
    }
  };
  return { service, source, server, upstream, ask, logged, lanes: service.lanes.udp };
}

/** Sockets, so that the kernel gives some to each lane. */
export async function udpClients(count: number): Promise<Socket[]> {
  return Promise.all(Array.from({ length: count }, () => udpClient()));
}

/** Keeps lanes from handling a batch, as a change does while it is made. @returns ends that */
export function holdLanes({ lock }: SharedSource): () => void {
  Atomics.store(lock, 0, 1);
  return () => {
    Atomics.store(lock, 0, 0);
    Atomics.notify(lock, 0);
  };
}
