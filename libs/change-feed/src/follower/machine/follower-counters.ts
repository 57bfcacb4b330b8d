/** Why a follower loaded a whole snapshot. */
export type LoadCause = 'disk' | 'start' | 'replaced' | 'pruned' | 'lineage' | 'digest' | 'failed';

/** Plain counters, read by the process's metrics. */
export interface FollowerCounters {
  changesApplied: number;
  /** Changes received that were in force already. */
  duplicates: number;
  /** Requests for changes that had not been received. */
  gaps: number;
  /** Steps that failed and were retried. */
  feedFailures: number;
  /** Configurations with another digest than the control plane's: in force, or loaded and rejected. */
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
