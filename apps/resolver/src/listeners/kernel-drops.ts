import { readFileSync, readlinkSync } from 'node:fs';

/** Tables of UDP sockets, for IPv4 and IPv6 (proc_net(5)). */
const TABLES = ['/proc/net/udp', '/proc/net/udp6'];
/** Columns of these tables. */
const INODE = 9;
const DROPS = 12;

/** The inode of an open socket, which names it in the tables of the kernel. Undefined where there is no /proc. */
export function inodeOf(fileDescriptor: number): string | undefined {
  try {
    return /^socket:\[(\d+)\]$/.exec(readlinkSync(`/proc/self/fd/${fileDescriptor}`))?.[1];
  } catch {
    return undefined;
  }
}

/** Number of datagrams that the kernel dropped because the receive buffer of one of these sockets was full. */
export function countKernelDrops(inodes: ReadonlySet<string>): number {
  let sum = 0;
  for (const line of TABLES.flatMap(linesOf)) {
    const columns = line.trim().split(/\s+/);
    if (inodes.has(columns[INODE])) sum += Number(columns[DROPS]);
  }
  return sum;
}

function linesOf(table: string): string[] {
  try {
    return readFileSync(table, 'utf8').split('\n');
  } catch {
    // Not Linux, or no IPv6.
    return [];
  }
}
