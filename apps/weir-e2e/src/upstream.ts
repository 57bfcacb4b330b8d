import dns2 from 'dns2';
import type { AddressInfo } from 'node:net';

const { Packet } = dns2;

/** The upstream gives this address for every name, so names that are not blocked have it. */
export const UPSTREAM_ADDRESS = '203.0.113.80';

/** A real DNS server on loopback that stands for the internet. Every name has one address. */
export async function startUpstream(): Promise<{ endpoint: string; close(): Promise<void> }> {
  const server = dns2.createServer({
    udp: true,
    handle: (request, send) => {
      const response = Packet.createResponseFromRequest(request);
      const [question] = request.questions;
      if (question?.type === Packet.TYPE.A) {
        response.answers.push(
          Packet.createResourceFromQuestion(question, { ttl: 60, address: UPSTREAM_ADDRESS }),
        );
      }
      void send(response);
    },
  });
  const { udp } = await server.listen({ udp: { port: 0, address: '127.0.0.1' } });
  return { endpoint: `127.0.0.1:${(udp as AddressInfo).port}`, close: () => server.close() };
}
