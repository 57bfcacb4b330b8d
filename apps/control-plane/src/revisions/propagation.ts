import type { OnApplicationShutdown, OnModuleDestroy, OnModuleInit } from '@nestjs/common';
import type { Applied, ChangePublisher, PublishedChange } from '@weir/change-feed';
import type { Span } from '@weir/telemetry';
import { Counter, Histogram, type Registry } from 'prom-client';
import type { ChangeTrace } from './change-record.js';

/** At a stop, changes wait no longer than this for the resolvers. */
const STOP_DEADLINE_MS = 5_000;

/** Publishes changes, waits for the resolvers, and measures how long these take. Opens and closes the publisher. */
export class Propagation implements OnModuleInit, OnModuleDestroy, OnApplicationShutdown {
  private readonly durations: Histogram;
  private readonly incomplete: Counter;

  constructor(
    registry: Registry,
    readonly publisher: ChangePublisher,
  ) {
    this.durations = new Histogram({
      name: 'weir_change_acknowledgement_seconds',
      help: 'Time from the commit of a change until every live resolver had applied it, or the timeout',
      buckets: [0.001, 0.0025, 0.005, 0.01, 0.015, 0.025, 0.05, 0.1, 0.25, 1, 5, 30],
      registers: [registry],
    });
    this.incomplete = new Counter({
      name: 'weir_changes_incomplete_total',
      help: 'Changes that waited, and were answered before every live resolver had applied them',
      registers: [registry],
    });
  }

  async onModuleInit(): Promise<void> {
    await this.publisher.start();
  }

  /** A stop begins. */
  onModuleDestroy(): void {
    setTimeout(() => this.publisher.endWaits(), STOP_DEADLINE_MS).unref();
  }

  async onApplicationShutdown(): Promise<void> {
    await this.publisher.stop();
  }

  /**
   * Starts to publish changes before the next commit, and waits at the same time until the last of them is in force on
   * every live resolver, at most `timeoutMs`.
   * @param committed changes of one transaction, in order; at least one
   */
  async propagate(
    committed: readonly { readonly change: PublishedChange; readonly trace: ChangeTrace | null }[],
    timeoutMs: number,
  ): Promise<Applied> {
    const publishing: Span[] = [];
    const changes = committed.map(({ change, trace }) => {
      if (trace === null) return change;
      const span = trace.beginPublishing(change.revision);
      publishing.push(span);
      return { ...change, traceparent: span.traceparent };
    });
    const waiting = committed.flatMap(({ trace }) => trace?.beginAcknowledgements() ?? []);
    // It never rejects.
    void this.publisher.publish(changes).then(() => publishing.forEach((span) => span.end()));
    const applied = await this.waitApplied(changes, timeoutMs);
    const attributes = {
      'weir.resolvers.applied': applied.applied,
      'weir.resolvers': applied.total,
    };
    for (const span of waiting) span.end({ attributes });
    return applied;
  }

  private async waitApplied(
    changes: readonly PublishedChange[],
    timeoutMs: number,
  ): Promise<Applied> {
    const last = changes.at(-1);
    if (last === undefined) throw new Error('there is no change to wait for');
    const startedMs = performance.now();
    const applied = await this.publisher.waitApplied(last, timeoutMs);
    const seconds = (performance.now() - startedMs) / 1000;
    // An alert compares the number of changes that were measured with those that were incomplete.
    if (timeoutMs > 0) {
      changes.forEach(() => this.durations.observe(seconds));
      if (applied.applied < applied.total) this.incomplete.inc(changes.length);
    }
    return applied;
  }
}
