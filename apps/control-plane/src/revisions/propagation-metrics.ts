import type { Applied, Position, PublishedChange } from '@weir/change-feed';
import { Counter, Histogram, type Registry } from 'prom-client';
import type { Propagation } from './configuration-writer.js';

/** Measures how long changes take from their commit until every live resolver has applied them. */
export class MeasuredPropagation implements Propagation {
  private readonly durations: Histogram;
  private readonly incomplete: Counter;

  constructor(
    registry: Registry,
    private readonly propagation: Propagation,
  ) {
    this.durations = new Histogram({
      name: 'weir_change_acknowledgement_seconds',
      help: 'Time from the commit of a change until every live resolver had applied it, or the timeout',
      buckets: [0.001, 0.0025, 0.005, 0.01, 0.015, 0.025, 0.05, 0.1, 0.25, 1, 5, 30],
      registers: [registry],
    });
    this.incomplete = new Counter({
      name: 'weir_changes_incomplete_total',
      help: 'Changes that were answered before every live resolver had applied them',
      registers: [registry],
    });
  }

  publish(changes: readonly PublishedChange[]): Promise<void> {
    return this.propagation.publish(changes);
  }

  async waitApplied(position: Position, timeoutMs: number): Promise<Applied> {
    const startedMs = performance.now();
    const applied = await this.propagation.waitApplied(position, timeoutMs);
    if (timeoutMs > 0) this.durations.observe((performance.now() - startedMs) / 1000);
    if (applied.applied < applied.total) this.incomplete.inc();
    return applied;
  }
}
