import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'vitest';
import { DEFAULT_PAGE_ADDRESS, Deployment, pageAddress } from '../deployment/deployment.js';
import { DnsClient } from '../deployment/dns-client.js';
import { UPSTREAM_ADDRESS } from '../deployment/dns-message.js';
import type { Answer } from '../deployment/management-client.js';
import { Random } from '../deployment/random.js';

/** Has the profile; the stranger has none. */
export const SUBSCRIBER = '127.0.0.1';
const STRANGER = '127.0.0.2';
export const ORDERED = DEFAULT_PAGE_ADDRESS;
/** The page of the profile. */
export const DENIED = pageAddress(1);
export const TEXTS = { authority: 'District Court of Exampleton', reference: '12 O 345/26' };
/** Every other one is denied by the profile. */
export const DOMAINS = Array.from({ length: 8 }, (_, i) => `domain-${i}.example`);
const isDenied = (domain: string): boolean => DOMAINS.indexOf(domain) % 2 === 1;

/** A control plane and two resolvers, with a profile whose orders and grants change. */
export class OrdersDeployment {
  private readonly dns = new DnsClient(20_000);

  private constructor(
    readonly processes: Deployment,
    readonly folder: string,
    /** Has the tokens of people; at first none. */
    readonly tokens: string,
  ) {}

  static async start(): Promise<OrdersDeployment> {
    const folder = mkdtempSync(join(tmpdir(), 'weir-orders-'));
    const tokens = join(folder, 'tokens.yaml');
    writeFileSync(tokens, '[]\n');
    const processes = await Deployment.create({
      ...{ folder, replicas: 1, resolvers: 2, fsync: false },
      variables: { PROPAGATION_TIMEOUT_MS: '60000' },
      replicaVariables: () => ({ MANAGEMENT_TOKENS_FILE: tokens }),
      resolverVariables: (i) => ({ RESOLVER_THREADS: String(i + 1) }),
      onUnexpectedExit: () => undefined,
    });
    const all = new OrdersDeployment(processes, folder, tokens);
    await processes.start();
    await all.change('POST', '/blockpage/', { id: 1, type: 1 });
    await all.change('POST', '/profiles/', { profile: { id: 1, page_id: 1 } });
    await all.change('POST', '/net/', { ip: SUBSCRIBER, profile_id: 1 });
    const domains = DOMAINS.filter(isDenied);
    await all.change('POST', '/profile/1/bw_list/batch', { type: 'deny', domains });
    return all;
  }

  async stop(): Promise<void> {
    await this.dns.close();
    await this.processes.stop();
    rmSync(this.folder, { recursive: true });
  }

  change(method: string, path: string, body?: unknown): Promise<Answer> {
    return this.processes.clients[0].change(method, path, body);
  }

  /** What the next query to one resolver is answered. */
  async ask(resolver: number, source: string, qname: string): Promise<string | null> {
    return (await this.dns.ask(source, this.processes.dnsPorts[resolver], qname)).seen;
  }

  /** What the next query to each resolver is answered. */
  askAll(source: string, qname: string): Promise<(string | null)[]> {
    return Promise.all(this.processes.dnsPorts.map((_, i) => this.ask(i, source, qname)));
  }
}

/** Changes orders and grants so often, and expects of each change that it decides the next query to every resolver. */
export async function expectEffectOfChanges(all: OrdersDeployment, count: number): Promise<void> {
  const random = new Random(31);
  const orders = new Map<number, string>();
  const grants = new Map<string, { readonly id: number; readonly verdict: 'allow' | 'deny' }>();
  const isOrdered = (domain: string): boolean => [...orders.values()].includes(domain);
  const expected = (source: string, domain: string): string => {
    if (isOrdered(domain)) return ORDERED;
    if (source === STRANGER) return UPSTREAM_ADDRESS;
    const verdict = grants.get(domain)?.verdict ?? (isDenied(domain) ? 'deny' : 'allow');
    return verdict === 'deny' ? DENIED : UPSTREAM_ADDRESS;
  };
  const until = (): string =>
    new Date(Date.now() + random.integer(1, 20) * 86_400_000).toISOString();
  let nextId = 0;
  /** @returns the acknowledgement, and the domains that are decided anew. */
  const makeChange = async (): Promise<[Answer, string[]]> => {
    const domain = random.pick(DOMAINS);
    if (random.chance(0.5)) {
      const granted = grants.get(domain);
      if (granted !== undefined && random.chance(0.5)) {
        grants.delete(domain);
        return [await all.change('DELETE', `/profile/1/grants/${granted.id}`), [domain]];
      }
      const verdict = random.pick(['allow', 'deny'] as const);
      const end = random.chance(0.5) ? { minutes: 30 } : { until: until() };
      const answer = await all.change('POST', '/profile/1/grants', { domain, verdict, ...end });
      grants.set(domain, { id: (JSON.parse(answer.text) as { id: number }).id, verdict });
      return [answer, [domain]];
    }
    const end = random.chance(0.5) ? {} : { until: until() };
    if (orders.size === 0 || (orders.size < 6 && random.chance(0.4))) {
      orders.set(nextId, domain);
      const body = { id: nextId++, domain, ...TEXTS, ...end };
      return [await all.change('POST', '/orders/', body), [domain]];
    }
    const [id, before] = random.pick([...orders]);
    if (random.chance(0.5)) {
      orders.delete(id);
      return [await all.change('DELETE', `/orders/${id}`), [before]];
    }
    orders.set(id, domain);
    return [await all.change('PATCH', `/orders/${id}`, { domain, ...end }), [before, domain]];
  };
  let [proven, effects] = [0, 0];
  while (proven < count) {
    const wasOrdered = new Set(orders.values());
    const [{ applied, total }, domains] = await makeChange();
    // A resolver that was stalled for longer than its lease: the header says so, and promises nothing of it.
    if (applied !== total || total !== 2) continue;
    proven++;
    for (const domain of domains) {
      if (wasOrdered.has(domain) !== isOrdered(domain)) effects++;
      const qname = random.pick([domain, `www.${domain}`]);
      for (const source of [SUBSCRIBER, STRANGER]) {
        const answer = expected(source, domain);
        expect([proven, source, qname, await all.askAll(source, qname)]).toEqual([
          ...[proven, source, qname],
          [answer, answer],
        ]);
      }
    }
  }
  expect(effects).toBeGreaterThan(count / 10);
  for (const id of orders.keys()) await all.change('DELETE', `/orders/${id}`);
  for (const { id } of grants.values()) await all.change('DELETE', `/profile/1/grants/${id}`);
}
