import type { FollowerReport, ImageCounters, MissingImage } from '@weir/change-feed';

/** A process that follows the configuration, in plain values that can be sent to another thread. */
export interface FeedState extends FollowerReport {
  readonly missingImage: MissingImage | null;
  readonly imageFailures: number;
  readonly imageCounters: ImageCounters;
  readonly hasCatalogue: boolean;
  /** Checks at which a file was not usable, by the variable that names it. */
  readonly fileFaults: { readonly FEED_TOKENS_FILE: number; readonly FEED_CA: number };
}

/** The state so much later, when nothing else has changed: durations are longer. */
export function agedState(state: FeedState, ms: number): FeedState {
  const { lagMs, inForceForMs, missingImage } = state;
  return {
    ...state,
    lagMs: lagMs + ms,
    inForceForMs: state.revision === null ? 0 : inForceForMs + ms,
    missingImage: missingImage && { ...missingImage, forMs: missingImage.forMs + ms },
  };
}

/** Longer than a heartbeat (1 s) and the timeout of a request to the feed API (10 s) together. */
const NO_NEWS_MS = 15_000;

/** An image is missing at each activation, until it has arrived. */
const IMAGE_LATE_MS = 5_000;

/** Null: it is ready. A policy from disk may be old, so it first catches up, at most `graceMs` (decisions §10). */
export function whyNotReady(
  {
    revision,
    hasCatalogue,
    isCaughtUp,
    inForceForMs,
  }: Pick<FeedState, 'revision' | 'hasCatalogue' | 'isCaughtUp' | 'inForceForMs'>,
  graceMs: number,
): string | null {
  if (revision === null) return 'no configuration yet';
  if (!hasCatalogue) return 'no catalogue yet';
  return !isCaughtUp && inForceForMs < graceMs ? 'catching up with the control plane' : null;
}

/** What does not work as it should, in plain words. Empty when all is well. */
export function whatIsDegraded({
  revision,
  lagMs,
  isDiskCurrent,
  missingImage: missing,
}: Pick<FeedState, 'revision' | 'lagMs' | 'isDiskCurrent' | 'missingImage'>): readonly string[] {
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
  if (missing !== null && missing.forMs >= IMAGE_LATE_MS) {
    const seconds = Math.floor(missing.forMs / 1_000);
    degraded.push(
      `the image of the active catalogue (${missing.sha256.slice(0, 12)}) is missing for ${seconds} s; ` +
        'the one before is in use',
    );
  }
  return degraded;
}
