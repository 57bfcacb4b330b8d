import { setTimeout as sleep } from 'node:timers/promises';
import { ask } from './resolver-client.js';

const PAUSE_MS = 5;

/**
 * Queries a resolver for new names, one after the other, and counts missing and wrong answers.
 */
export class DnsWatch {
  answered = 0;
  /** Missing or wrong answers, with the time. */
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
