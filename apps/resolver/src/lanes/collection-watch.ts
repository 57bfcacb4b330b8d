import { GCProfiler } from 'node:v8';
import type { LaneCounts } from './lane-counts.js';

const MICROSECONDS = 1e6;

/**
 * Counts the garbage collections of this thread. The event loop of a lane never runs, so no `PerformanceObserver` would
 * hear of them.
 */
export class CollectionWatch {
  private profiler = startProfiler();
  private second = 0;

  constructor(private readonly counts: Pick<LaneCounts, 'countCollection'>) {}

  /** To be called often. Counts once a second, which takes some microseconds. */
  update(nowSeconds: number): void {
    if (nowSeconds === this.second) return;
    this.second = nowSeconds;
    const { profiler } = this;
    // The end of the one before allocates, and so may lead to a collection.
    this.profiler = startProfiler();
    for (const { gcType, cost } of profiler.stop()?.statistics ?? []) {
      this.counts.countCollection(gcType, cost / MICROSECONDS);
    }
  }
}

function startProfiler(): GCProfiler {
  const profiler = new GCProfiler();
  profiler.start();
  return profiler;
}
