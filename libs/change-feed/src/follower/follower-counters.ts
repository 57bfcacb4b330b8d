/** Why a follower loaded a whole snapshot. */
export type LoadCause = 'disk' | 'start' | 'replaced' | 'pruned' | 'lineage' | 'digest' | 'failed';

/** Plain counters, read by the process's metrics. */
export interface FollowerCounters {
  changesApplied: number;
  /** Changes heard of that were in force already. */
  duplicates: number;
  /** Changes that were asked for because they had not been heard. */
  gaps: number;
  /** Steps towards the head that failed and were tried again. */
  feedFailures: number;
  /** Configurations that did not have the control plane's digest: in force, or just loaded and refused. */
  digestMismatches: number;
  loads: Record<LoadCause, number>;
}

export function newCounters(): FollowerCounters {
  return {
    changesApplied: 0,
    duplicates: 0,
    gaps: 0,
    feedFailures: 0,
    digestMismatches: 0,
    loads: { disk: 0, start: 0, replaced: 0, pruned: 0, lineage: 0, digest: 0, failed: 0 },
  };
}
