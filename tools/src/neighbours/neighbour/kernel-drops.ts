import { readFileSync } from 'node:fs';

/** Columns of `/proc/net/udp` (proc_net(5)). */
const LOCAL_ADDRESS = 1;
const DROPS = 12;

/** Number of datagrams for these local ports that the kernel dropped because nobody read them; 0 outside of Linux. */
export function countKernelDrops(ports: ReadonlySet<number>): number {
  let table: string;
  try {
    table = readFileSync('/proc/net/udp', 'utf8');
  } catch {
    return 0; // not Linux
  }
  let drops = 0;
  for (const line of table.split('\n')) {
    const columns = line.trim().split(/\s+/);
    const [, port = ''] = (columns[LOCAL_ADDRESS] ?? '').split(':');
    if (ports.has(Number.parseInt(port, 16))) drops += Number(columns[DROPS]);
  }
  return drops;
}
