import { createSocket, type Socket } from 'node:dgram';
import { SERVER } from '../shared/target.js';
import type { AttackContext } from './attack.js';

/** Header of the PROXY protocol, version 2: signature, PROXY, family, length, addresses, ports. */
const SIGNATURE = Buffer.from('0d0a0d0a000d0a515549540a', 'hex');
const PROXY = 0x21;
const ADDRESS_BYTES = 12;
const FAMILY = { stream: 0x11, datagram: 0x12 } as const;

/** The header by which a load balancer names an IPv4 client. */
export function proxyHeader(source: string, port: number, kind: keyof typeof FAMILY): Buffer {
  const address = Buffer.from(source.split('.').map(Number));
  const ports = Buffer.alloc(4);
  ports.writeUInt16BE(port, 0);
  ports.writeUInt16BE(53, 2);
  const head = Buffer.of(PROXY, FAMILY[kind], 0, ADDRESS_BYTES);
  return Buffer.concat([SIGNATURE, head, address, address, ports]);
}

const RCODES = ['NOERROR', 'FORMERR', 'SERVFAIL', 'NXDOMAIN', 'NOTIMP', 'REFUSED'];
const RECEIVE_BUFFER_BYTES = 1024 * 1024;
const FLAG_TRUNCATED = 0x0200;

/** Sends packets from one or more addresses, and counts the answers by RCODE. */
export class UdpSender {
  private constructor(
    private readonly sockets: readonly Socket[],
    private readonly context: AttackContext,
  ) {}

  static async open(context: AttackContext, sources: readonly string[]): Promise<UdpSender> {
    const sockets = await Promise.all(sources.map((source) => bind(source)));
    for (const socket of sockets) {
      socket.on('message', (answer) => context.counts.add(describe(answer)));
      socket.on('error', () => context.counts.add('not sent'));
    }
    return new UdpSender(sockets, context);
  }

  /** Sends the packet from the nth source. */
  send(packet: Buffer, n: number): void {
    this.context.counts.add('sent');
    this.sockets[n % this.sockets.length]?.send(packet, this.context.target.dnsPort, SERVER);
  }
}

async function bind(source: string): Promise<Socket> {
  const socket = createSocket({ type: 'udp4', recvBufferSize: RECEIVE_BUFFER_BYTES });
  await new Promise<void>((resolve, reject) => {
    socket.once('error', reject).bind(0, source, () => {
      socket.off('error', reject);
      resolve();
    });
  });
  return socket;
}

function describe(answer: Buffer): string {
  if (answer.length < 12) return 'short answer';
  const flags = answer.readUInt16BE(2);
  const rcode = flags & 15;
  const name = RCODES[rcode] ?? `RCODE ${rcode}`;
  return (flags & FLAG_TRUNCATED) === 0 ? name : `${name} with TC`;
}
