import { decodeMessage, encodeMessage, pointerTo, wireName } from '@weir/dns-wire/testing';
import { createSocket } from 'node:dgram';

export interface CnameServer {
  readonly port: number;
  close(): void;
}

/**
 * A DNS server on a loopback port that knows CNAME records only: name → target.
 * @param options `isSilent`: names without a record get no answer
 */
export async function startCnameServer(
  targets: Readonly<Record<string, string>>,
  { isSilent = false }: { readonly isSilent?: boolean } = {},
): Promise<CnameServer> {
  const socket = createSocket('udp4');
  socket.on('message', (bytes, { port, address }) => {
    const { id, questions } = decodeMessage(bytes);
    const [{ qname, qtype, qclass }] = questions;
    const target = targets[qname];
    if (target === undefined && isSilent) return;
    const response = encodeMessage({
      id,
      flags: target === undefined ? 0x8183 : 0x8180,
      questions: [{ qname: wireName(qname), qtype, qclass }],
      answers:
        target === undefined
          ? []
          : [{ owner: pointerTo(12), type: 5, ttl: 60, rdata: wireName(target) }],
    });
    socket.send(response, port, address);
  });
  await new Promise<void>((resolve) => socket.bind(0, '127.0.0.1', resolve));
  return { port: socket.address().port, close: () => socket.close() };
}
