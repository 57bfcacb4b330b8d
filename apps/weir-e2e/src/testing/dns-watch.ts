import { setTimeout as sleep } from 'node:timers/promises';
import { ask } from './resolver-client.js';

const PAUSE_MS = 5;
const TICK_MS = 20;
/** So long without a processor, an answer of an upstream in this process may have come too late. */
const STALL_MS = 1_000;

/**
 * Queries a resolver for new names, one after the other, and counts missing and wrong answers. What it gets while the
 * whole machine stalls says nothing about the resolver.
 */
export class DnsWatch {
  answered = 0;
  /** Missing or wrong answers, with the time. */
  readonly lost: string[] = [];
  private stopped = false;
  private tickedMs = performance.now();
  /** The longest time that this process had no processor during a query. */
  private stalledMs = 0;
  private readonly timer = setInterval(() => {
    this.tick();
  }, TICK_MS);
  private readonly running: Promise<void>;

  constructor(
    private readonly port: number,
    private readonly expected: string,
  ) {
    this.running = this.watch();
  }

  async stop(): Promise<void> {
    this.stopped = true;
    await this.running;
    clearInterval(this.timer);
  }

  private tick(): void {
    const nowMs = performance.now();
    this.stalledMs = Math.max(this.stalledMs, nowMs - this.tickedMs - TICK_MS);
    this.tickedMs = nowMs;
  }

  private async watch(): Promise<void> {
    for (let number = 0; !this.stopped; number++) {
      const qname = `w${number}-${this.port}.watched.example`;
      this.stalledMs = 0;
      const answer = await ask(this.port, qname).then((all) => all.join(), String);
      this.tick();
      if (answer === this.expected) this.answered++;
      else if (this.stalledMs < STALL_MS) {
        this.lost.push(`${new Date().toISOString()} ${qname}: ${answer}`);
      }
      await sleep(PAUSE_MS);
    }
  }
}
