import { setTimeout as sleep } from 'node:timers/promises';
import { ask } from './resolver-client.js';

const PAUSE_MS = 5;

/**
 * Asks a resolver one query after the other, of names that nobody asked before, and counts those that are not
 * answered well.
 */
export class DnsWatch {
  answered = 0;
  /** What went wrong, with the time. */
  readonly lost: string[] = [];
  private stopped = false;
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
  }

  private async watch(): Promise<void> {
    for (let number = 0; !this.stopped; number++) {
      const qname = `w${number}-${this.port}.watched.example`;
      try {
        const answer = (await ask(this.port, qname)).join();
        if (answer === this.expected) this.answered++;
        else this.lost.push(`${new Date().toISOString()} ${qname}: ${answer}`);
      } catch (error) {
        this.lost.push(`${new Date().toISOString()} ${qname}: ${String(error)}`);
      }
      await sleep(PAUSE_MS);
    }
  }
}
