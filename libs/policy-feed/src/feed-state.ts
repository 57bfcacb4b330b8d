import type { Follower } from '@weir/change-feed';
import type { PolicyTarget } from './policy-target.js';

/** Where a follower is, in plain values that can be sent to another thread. */
export type FeedState = Pick<
  Follower,
  | 'revision'
  | 'headRevision'
  | 'lagMs'
  | 'isCaughtUp'
  | 'inForceForMs'
  | 'isRedisConnected'
  | 'isDiskCurrent'
  | 'diskFailures'
  | 'refusedMessages'
  | 'counters'
> &
  Pick<PolicyTarget, 'missingImage' | 'imageFailures' | 'imageCounters'> & {
    /** Whether a policy with a catalogue decides. */
    readonly hasCatalogue: boolean;
    /** Checks at which a file was not usable, by the variable that names it. */
    readonly fileFaults: { readonly FEED_TOKENS_FILE: number; readonly FEED_CA: number };
  };

export function feedState(
  follower: Follower,
  target: PolicyTarget,
  rest: Pick<FeedState, 'hasCatalogue' | 'fileFaults'>,
): FeedState {
  return {
    revision: follower.revision,
    headRevision: follower.headRevision,
    lagMs: follower.lagMs,
    isCaughtUp: follower.isCaughtUp,
    inForceForMs: follower.inForceForMs,
    isRedisConnected: follower.isRedisConnected,
    isDiskCurrent: follower.isDiskCurrent,
    diskFailures: follower.diskFailures,
    missingImage: target.missingImage,
    imageFailures: target.imageFailures,
    imageCounters: target.imageCounters,
    refusedMessages: follower.refusedMessages,
    counters: follower.counters,
    ...rest,
  };
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
