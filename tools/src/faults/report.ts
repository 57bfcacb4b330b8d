import { percentile } from '../percentile.js';
import type { RunResult } from './run.js';

/** What a run came to, for people and for logs. */
export function renderReport({ tally, log, loads, messages }: RunResult): string {
  const { counts } = tally;
  const ms = (share: number): string => percentile(tally.latenciesMs, share).toFixed(1);
  return [
    `changes    ${counts.acknowledged} acknowledged, ${counts.replacements} of them of everything (${counts.inForceEverywhere} in force on all live resolvers, ${counts.lateResolvers} with a late one ` +
      `(${counts.lateInCalm} in calm), ` +
      `${counts.countedOnNobody} 0/0), ${counts.refused} refused, ${counts.unknown} unknown at first, of them ${counts.foundDone} found done ` +
      `(${counts.foundDoneAfter503} after a 503)`,
    `latency    p50 ${ms(0.5)} ms, p99 ${ms(0.99)} ms, from request to 2xx in force everywhere, faults included`,
    `queries    ${counts.queries} answered, of them ${counts.queriesAfterAcknowledgement} at once after an acknowledgement; ` +
      `${counts.queryRetries} retries, ${counts.queriesSetAside} under way while their resolver was killed or stopped`,
    `faults     ${list(Object.fromEntries(tally.faults))}`,
    `messages   ${list(messages)}`,
    `revisions  ${log.head}, gaps ${log.gaps}`,
    `snapshots  ${list(loads)}`,
  ].join('\n');
}

function list(counts: Readonly<Record<string, number>>): string {
  return Object.entries(counts)
    .map(([name, count]) => `${name} ${count}`)
    .join(', ');
}
