/*
 * Queries a resolver for a name that it answers from memory, one query after the other, until it gets a message. It
 * tells the longest time in ms, without that for which it was ready and had no core.
 */
import { readFileSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import { DnsClient } from '../deployment/dns-client.js';
import { helperArgument, tellMain } from '../services/helper.js';

export interface Asked {
  readonly port: number;
  readonly qname: string;
}

const PAUSE_MS = 1;

/** For how long this thread was ready to run and had no core, by the kernel's account. */
function coreWaitMs(): number {
  const [, waitedNs] = readFileSync('/proc/thread-self/schedstat', 'latin1').split(' ');
  return Number(waitedNs) / 1e6;
}

const { port, qname } = helperArgument() as Asked;
let [ends, longestMs] = [false, 0];
process.once('message', () => (ends = true));
const client = new DnsClient();
while (!ends) {
  const [startedMs, waitedMs] = [performance.now(), coreWaitMs()];
  await client.ask('127.0.0.1', port, qname);
  const ms = performance.now() - startedMs - (coreWaitMs() - waitedMs);
  longestMs = Math.max(longestMs, ms);
  await sleep(PAUSE_MS);
}
tellMain(longestMs);
