// What other threads than that of the follower need. It loads neither Redis nor HTTP.
export {
  ANSWER_VARIABLES,
  BRAND_VARIABLES,
  FEED_VARIABLES,
  type FeedConfiguration,
} from './variables.js';
export { openFeedAccess } from './feed-access.js';
export { agedState, type FeedState, whatIsDegraded, whyNotReady } from './feed-state.js';
