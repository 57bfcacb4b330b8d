import dns2 from 'dns2';
import { execFile } from 'node:child_process';
import { isIPv6 } from 'node:net';
import { promisify } from 'node:util';

const TYPES = { A: 1, AAAA: 28 } as const;

/** A busy machine may stall for many seconds. */
const ANSWER_TIMEOUT_MS = 30_000;

/**
 * Queries one resolver over UDP or TCP. @returns the addresses in order. @throws Error when there is no answer in time
 */
export async function ask(
  port: number,
  qname: string,
  options: {
    address?: string;
    protocol?: 'udp' | 'tcp';
    type?: keyof typeof TYPES;
    timeoutMs?: number;
  } = {},
): Promise<readonly string[]> {
  const { address = '127.0.0.1', protocol = 'udp', type = 'A' } = options;
  const { timeoutMs: timeout = ANSWER_TIMEOUT_MS } = options;
  const socketType = isIPv6(address) ? ('udp6' as const) : ('udp4' as const);
  const server = { dns: address, port, socketType, timeout };
  const client = protocol === 'udp' ? dns2.UDPClient(server) : dns2.TCPClient(server);
  const response = await client(qname, type);
  return response.answers
    .filter((answer) => answer.type === TYPES[type])
    .map((answer) => answer.address ?? '');
}

/** What `dig +short` prints for the name. */
export async function dig(port: number, qname: string, ...options: string[]): Promise<string> {
  const args = [
    '@127.0.0.1',
    '-p',
    String(port),
    '+short',
    '+tries=1',
    '+time=60',
    ...options,
    qname,
  ];
  return (await promisify(execFile)('dig', args)).stdout.trim();
}
