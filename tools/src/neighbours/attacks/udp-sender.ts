import { createSocket, type Socket } from 'node:dgram';
import { SERVER } from '../shared/target.js';
import type { AttackContext } from './attack.js';

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
