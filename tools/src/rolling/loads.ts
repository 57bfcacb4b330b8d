import { request } from 'node:http';
import { setTimeout as sleep } from 'node:timers/promises';
import { DnsClient } from '../deployment/dns-client.js';
import type { ManagementClient } from '../deployment/management-client.js';
import { UPSTREAM_ADDRESS } from '../deployment/dns-message.js';

/** A load with its counters and violations. */
export interface Load {
  /** Calls or requests so far. */
  readonly made: number;
  readonly violations: readonly string[];
  /** Sends no more, and waits for the answers. */
  stop(): Promise<void>;
}

const PAUSE_MS = 20;
/** The subscriber of all loads: the load balancer, because it does not speak the PROXY protocol. */
export const SUBSCRIBER = '127.0.0.1';
const DEFAULT_PAGE = '192.0.2.255';

abstract class LoadLoop implements Load {
  made = 0;
  readonly violations: string[] = [];
  private isStopping = false;
  private running: Promise<unknown> = Promise.resolve();

  start(workers: number): this {
    const numbers = Array.from({ length: workers }, (_, i) => i);
    this.running = Promise.all(numbers.map((worker) => this.run(worker)));
    return this;
  }

  async stop(): Promise<void> {
    this.isStopping = true;
    await this.running;
  }

  /** One call, the nth of its worker. */
  protected abstract step(worker: number, n: number): Promise<void>;

  private async run(worker: number): Promise<void> {
    for (let n = 0; !this.isStopping; n++) {
      await this.step(worker, n);
      this.made++;
      await sleep(PAUSE_MS);
    }
  }
}

/** A back office that blocks and unblocks names all the time, and checks at once whether each change is in force. */
export class Writers extends LoadLoop {
  private readonly dns = new DnsClient();

  /** @param dnsPort port of the load balancer in front of the resolvers; null: no check over DNS */
  constructor(
    private readonly client: ManagementClient,
    private readonly dnsPort: number | null,
  ) {
    super();
  }

  override async stop(): Promise<void> {
    await super.stop();
    await this.dns.close();
  }

  protected async step(worker: number, n: number): Promise<void> {
    const isDeny = n % 2 === 0;
    const domain = `worker${worker}.example.org`;
    const body = { type: isDeny ? 'deny' : 'allow', domain };
    const reply = await this.client.call('POST', '/profile/1/bw_list', body);
    if (reply.status === null) return this.violate(`change without an answer: ${reply.reason}`);
    if (reply.status !== 201) return this.violate(`change: ${reply.status} ${reply.text}`);
    if (reply.applied !== reply.total || reply.total === 0) {
      return this.violate(`change in force on ${reply.applied} of ${reply.total} resolvers`);
    }
    if (this.dnsPort === null) return;
    const { seen, retries } = await this.dns.ask(SUBSCRIBER, this.dnsPort, domain);
    if (retries > 0) this.violate(`${domain} was answered only after a retry`);
    const expected = isDeny ? DEFAULT_PAGE : UPSTREAM_ADDRESS;
    if (seen !== expected) this.violate(`${domain} is ${String(seen)} and not ${expected}`);
  }

  private violate(what: string): void {
    this.violations.push(what);
  }
}

/** Visitors of a blocked site. */
export class PageVisitors extends LoadLoop {
  constructor(private readonly port: number) {
    super();
  }

  protected async step(): Promise<void> {
    try {
      const status = await this.get();
      if (status !== 403) this.violations.push(`block page: ${status}`);
    } catch (error) {
      this.violations.push(`block page without an answer: ${(error as Error).message}`);
    }
  }

  private get(): Promise<number> {
    return new Promise((resolve, reject) => {
      const headers = { Host: 'www.blocked.example.com', Accept: 'text/html' };
      const sent = request({ host: '127.0.0.1', port: this.port, headers, agent: false });
      sent.once('error', reject).once('response', (response) => {
        response.once('error', reject).once('end', () => resolve(response.statusCode ?? 0));
        response.resume();
      });
      sent.end();
    });
  }
}
