import { percentile } from '../percentile.js';
import type { RunResult } from './run.js';
import type { RunStats } from './run-stats.js';

/** The result of a run as text. */
export function renderReport({ stats, log, loads, images, messages }: RunResult): string {
  const { counts } = stats;
  const ms = (share: number): string => percentile(stats.latenciesMs, share).toFixed(1);
  return [
    `changes    ${counts.acknowledged} acknowledged, ${counts.replacements} of them POST /init/ (${counts.inForceEverywhere} in force on all live resolvers, ` +
      `${counts.lateResolvers} with a late or missing one (${counts.lateWhileUndisturbed} late while undisturbed), ` +
      `${counts.countedOnNone} 0/0), ${counts.refused} refused, ${counts.unknown} unknown at first, ` +
      `of them ${counts.foundApplied} already applied`,
    `latency    p50 ${ms(0.5)} ms, p99 ${ms(0.99)} ms, from the first request to the 2xx, in force everywhere, during faults`,
    `slowest    ${slowest(stats)}`,
    `queries    ${counts.queries} answered, of them ${counts.queriesAfterAcknowledgement} right after an acknowledgement; ` +
      `${counts.queriesWhileStarting} more during a start with a long journal; ` +
      `${counts.queryRetries} retries, ${counts.queriesInconclusive} without a result because their resolver was killed or stopped`,
    `faults     ${list(Object.fromEntries(stats.faults))}`,
    `messages   ${list(messages)}`,
    `revisions  ${log.head}, gaps ${log.gaps}`,
    `snapshots  ${list(loads)}`,
    `images     ${list(images)}`,
  ].join('\n');
}

/** Single calls: how long a control plane has held one of them. */
function slowest({ slowestCalls }: RunStats): string {
  return slowestCalls
    .map(({ tookMs, text }) => `${tookMs.toFixed(0)} ms, at ${text}`)
    .join('\n           ');
}

function list(counts: Readonly<Record<string, number>>): string {
  return Object.entries(counts)
    .map(([name, count]) => `${name} ${count}`)
    .join(', ');
}
