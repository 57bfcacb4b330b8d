import type { Follower } from '@weir/change-feed';
import type { Policy } from '@weir/policy';

/** Heads come each second, and a feed that is silent is given up after ten. */
const NO_NEWS_MS = 15_000;

/**
 * Why nothing can be decided by the policy yet, or not by the newest: what comes from disk may be old, so the newest
 * is waited for, unless it cannot be had for `graceMs` (decisions §10).
 * @returns null when it can
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

/** What is amiss with a policy that can be decided by, in plain words. */
export function whatIsDegraded({
  revision,
  lagMs,
}: Pick<Follower, 'revision' | 'lagMs'>): readonly string[] {
  if (revision === null || lagMs < NO_NEWS_MS) return [];
  const seconds = Math.floor(lagMs / 1_000);
  return [
    `revision ${revision} is in force; for ${seconds} s nothing told whether it is the newest`,
  ];
}
