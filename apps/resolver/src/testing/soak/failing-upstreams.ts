import { setTimeout as sleep } from 'node:timers/promises';
import { soa } from '../../query/testing/questions.js';
import { a, aaaa, txt } from '../../query/testing/records.js';
import { respond } from '../respond.js';
import { type AskedQuery, UpstreamServer } from '../upstream-server.js';

type Behaviour = 'good' | 'silent' | 'servfail' | 'slow';

const BEHAVIOUR_MS = 1_500;
/** What the two upstreams do, step by step. In some steps neither answers. */
const BEHAVIOURS: readonly (readonly [Behaviour, Behaviour])[] = [
  ['good', 'good'],
  ['silent', 'good'],
  ['good', 'slow'],
  ['servfail', 'good'],
  ['good', 'silent'],
  ['servfail', 'servfail'],
  ['slow', 'good'],
  ['silent', 'silent'],
];
const SLOW_MS = 120;
const LARGE = Array.from({ length: 30 }, () => txt('x'.repeat(200), 4));

/**
 * Two upstreams that fail in turns, in different ways and sometimes together. Short TTLs keep the cache refreshing.
 */
export class FailingUpstreams {
  readonly servers: UpstreamServer[] = [];
  asked = 0;
  private behaviours = BEHAVIOURS[0];
  private timer: NodeJS.Timeout | undefined;

  async start(): Promise<void> {
    for (const index of [0, 1] as const) {
      const server = await UpstreamServer.start((query) => {
        server.asked.length = 0;
        this.asked++;
        return this.answer(this.behaviours[index], query);
      });
      server.answerProbe = (query) => {
        server.probes.length = 0;
        return this.answer(this.behaviours[index], query);
      };
      this.servers.push(server);
    }
    let step = 0;
    this.timer = setInterval(() => {
      this.behaviours = BEHAVIOURS[++step % BEHAVIOURS.length];
    }, BEHAVIOUR_MS);
  }

  /** As the value of `UPSTREAMS`. */
  get list(): string {
    return this.servers.map(({ endpoint }) => `${endpoint.address}:${endpoint.port}`).join();
  }

  async stop(): Promise<void> {
    clearInterval(this.timer);
    for (const server of this.servers) await server.stop();
  }

  private async answer(behaviour: Behaviour, query: AskedQuery): Promise<Uint8Array | null> {
    if (behaviour === 'silent') return null;
    if (behaviour === 'servfail') return respond(query, { flags: 0x8182 });
    if (behaviour === 'slow') await sleep(SLOW_MS);
    const [{ qname, qtype }] = query.message.questions;
    if (qname.includes('absent'))
      return respond(query, { flags: 0x8183, authorities: [soa(4, 4)] });
    if (qname.includes('large')) {
      const isUdp = query.transport === 'udp';
      return isUdp ? respond(query, { flags: 0x8380 }) : respond(query, { answers: LARGE });
    }
    const address = qtype === 28 ? aaaa('20010db8000000000000000000000001', 4) : a('192.0.2.1', 4);
    return respond(query, { answers: [address] });
  }
}
