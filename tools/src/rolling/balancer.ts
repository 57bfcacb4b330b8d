import { setTimeout as sleep } from 'node:timers/promises';
import { TcpProxy } from '../deployment/tcp-proxy.js';

/** A process behind the balancer. */
export interface Target {
  readonly port: number;
  /** Base URL of its `/readyz`. */
  readonly opsUrl: string;
}

/** How often each target is probed, and so how late the balancer notices that one is not ready. */
const PROBE_MS = 500;

/** Like a Kubernetes Service: a new connection goes to the next ready target, an open connection stays where it is. */
export class Balancer {
  private readonly ready = new Set<Target>();
  private readonly proxy: TcpProxy;
  private readonly stopping = new AbortController();
  private probing: Promise<unknown> = Promise.resolve();
  private turn = 0;

  constructor(private readonly targets: readonly Target[]) {
    this.proxy = new TcpProxy(() => {
      const ready = this.targets.filter((target) => this.ready.has(target));
      return ready[this.turn++ % ready.length]?.port;
    });
  }

  async start(port: number): Promise<void> {
    await this.proxy.listen(port);
    this.probing = Promise.all(this.targets.map((target) => this.probe(target)));
  }

  async stop(): Promise<void> {
    this.stopping.abort();
    await this.probing;
    await this.proxy.close();
  }

  /** Whether all targets are ready. */
  get areAllReady(): boolean {
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
