import type { Follower } from '@weir/change-feed';
import type { Policy } from '@weir/policy';

/** Longer than a heartbeat (1 s) and the timeout of a request to the feed API (10 s) together. */
const NO_NEWS_MS = 15_000;

/**
 * Why the process is not ready. A policy from disk may be old, so the process waits until it has caught up, at most
 * `graceMs` (decisions §10).
 * @returns null when it is ready
 */
export function whyNotReady(
  policy: Pick<Policy, 'counts'> | null,
  { isCaughtUp, inForceForMs }: Pick<Follower, 'isCaughtUp' | 'inForceForMs'>,
  graceMs: number,
): string | null {
  if (policy === null) return 'no configuration yet';
  if (policy.counts().catalogue === 0) return 'no catalogue yet';
  return !isCaughtUp && inForceForMs < graceMs ? 'catching up with the control plane' : null;
}

/** What does not work as it should, in plain words. Empty when all is well. */
export function whatIsDegraded({
  revision,
  lagMs,
  isDiskCurrent,
}: Pick<Follower, 'revision' | 'lagMs' | 'isDiskCurrent'>): readonly string[] {
  if (revision === null) return [];
  const degraded: string[] = [];
  if (lagMs >= NO_NEWS_MS) {
    const seconds = Math.floor(lagMs / 1_000);
    degraded.push(
      `revision ${revision} is in force; for ${seconds} s nothing told whether it is the newest`,
    );
  }
  if (!isDiskCurrent) {
    degraded.push('the configuration in force is not on disk: the disk fails, or does not answer');
  }
  return degraded;
}
