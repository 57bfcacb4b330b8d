import type { InFlight } from './in-flight.js';
import type { Upstream } from './upstream.js';

/** An upstream within this tolerance counts as fast as the fastest; then the order of the configuration decides. */
const LATENCY_TOLERANCE_FACTOR = 1.5;
const LATENCY_TOLERANCE_MS = 20;

/**
 * The upstream for the next attempt: of those that are sound and not tried yet, the first whose latency is close to
 * the lowest. Otherwise the first that is not tried yet, preferably one that is not down. If all were tried, the next
 * one in their order.
 */
export function chooseUpstream(upstreams: readonly Upstream[], entry: InFlight): Upstream {
  const limitMs =
    lowestLatencyMs(upstreams, entry) * LATENCY_TOLERANCE_FACTOR + LATENCY_TOLERANCE_MS;
  let untried: Upstream | null = null;
  for (const upstream of upstreams) {
    if (entry.hasTried(upstream.index)) continue;
    if (upstream.health.isSound && upstream.latencyMs <= limitMs) return upstream;
    if (untried === null || (untried.health.isDown && !upstream.health.isDown)) untried = upstream;
  }
  if (untried !== null) return untried;
  const last = entry.upstreams[entry.attemptCount - 1];
  return upstreams[(last + 1) % upstreams.length];
}

/** The first upstream that is not down and not tried yet; null when there is none. */
export function chooseUntried(upstreams: readonly Upstream[], entry: InFlight): Upstream | null {
  for (const upstream of upstreams) {
    if (!entry.hasTried(upstream.index) && !upstream.health.isDown) return upstream;
  }
  return null;
}

/** Whether an attempt is open at an upstream that is not down, so an answer may still come. */
export function hasLiveAttempt(upstreams: readonly Upstream[], entry: InFlight): boolean {
  for (let i = 0; i < entry.attemptCount; i++) {
    if (entry.isOpen(i) && !upstreams[entry.upstreams[i]].health.isDown) return true;
  }
  return false;
}

/** Whether an upstream that was asked has answered something else meanwhile. */
export function hasAnsweredOthers(upstreams: readonly Upstream[], entry: InFlight): boolean {
  for (let i = 0; i < entry.attemptCount; i++) {
    if (upstreams[entry.upstreams[i]].health.hasAnsweredSince(entry.startedMs[i])) return true;
  }
  return false;
}

function lowestLatencyMs(upstreams: readonly Upstream[], entry: InFlight): number {
  let lowest = Infinity;
  for (const upstream of upstreams) {
    if (entry.hasTried(upstream.index) || !upstream.health.isSound) continue;
    lowest = Math.min(lowest, upstream.latencyMs);
  }
  return lowest;
}
