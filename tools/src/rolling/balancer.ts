import { setTimeout as sleep } from 'node:timers/promises';
import { TcpWay } from '../deployment/tcp-way.js';

/** A process behind the balancer. */
export interface Target {
  readonly port: number;
  /** Where its `/readyz` is. */
  readonly opsUrl: string;
}

/** How often each target is asked: so much later the balancer notices that it is not ready any more. */
const PROBE_MS = 500;

/**
 * What a Service of Kubernetes is to clients: each new connection leads to the next target that was ready lately; old
 * ones stay.
 */
export class Balancer {
  private readonly ready = new Set<Target>();
  private readonly way: TcpWay;
  private readonly stopping = new AbortController();
  private probing: Promise<unknown> = Promise.resolve();
  private turn = 0;

  constructor(private readonly targets: readonly Target[]) {
    this.way = new TcpWay(() => {
      const ready = this.targets.filter((target) => this.ready.has(target));
      return ready[this.turn++ % ready.length]?.port;
    });
  }

  async start(port: number): Promise<void> {
    await this.way.listen(port);
    this.probing = Promise.all(this.targets.map((target) => this.probe(target)));
  }

  async stop(): Promise<void> {
    this.stopping.abort();
    await this.probing;
    await this.way.close();
  }

  /** Whether all targets are led to. */
  get isComplete(): boolean {
    return this.ready.size === this.targets.length;
  }

  private async probe(target: Target): Promise<void> {
    const { signal } = this.stopping;
    while (!signal.aborted) {
      const isReady = await fetch(`${target.opsUrl}/readyz`, { signal }).then(
        (response) => response.ok,
        () => false, // nothing listens there: it is being restarted
      );
      if (isReady) this.ready.add(target);
      else this.ready.delete(target);
      await sleep(PROBE_MS, undefined, { signal }).catch(() => undefined);
    }
  }
}
