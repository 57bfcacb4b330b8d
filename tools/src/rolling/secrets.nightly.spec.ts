import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { expect, it } from 'vitest';
import { Deployment } from '../deployment/deployment.js';
import { DnsClient } from '../deployment/dns-client.js';
import type { WeirProcess } from '../services/weir-process.js';
import { UPSTREAM_ADDRESS } from '../deployment/dns-message.js';

const [OLD, NEW] = ['the-old-token-of-the-feed', 'the-new-token-of-the-feed'];
const [OLD_COOKIE, NEW_COOKIE] = ['0'.repeat(32), '1'.repeat(32)];
/** The steps of docs/operations/secrets.md. */
const STEPS = [
  { FEED_TOKENS: `${OLD},${NEW}`, DNS_COOKIE_SECRETS: `${OLD_COOKIE},${NEW_COOKIE}` },
  { FEED_TOKENS: `${NEW},${OLD}`, DNS_COOKIE_SECRETS: `${NEW_COOKIE},${OLD_COOKIE}` },
  { FEED_TOKENS: NEW, DNS_COOKIE_SECRETS: NEW_COOKIE },
];
const SOURCE = '127.1.0.1';
/** Of a resolver that starts. */
const SERVFAIL = 'rcode 2';

/**
 * A subscriber with the addresses of both resolvers: it asks the second one where the first has no answer, and, as
 * resolv.conf(5) does, each one twice.
 */
async function subscriber(client: DnsClient, ports: readonly number[], qname: string) {
  for (const port of [...ports, ...ports]) {
    const { seen } = await client.ask(SOURCE, port, qname);
    if (seen !== null && seen !== SERVFAIL) return seen;
  }
  return null;
}

it('secrets are replaced without a lost query or change, one process after the other', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'weir-secrets-'));
  const faults: string[] = [];
  const deployment = await Deployment.create({
    folder,
    replicas: 2,
    resolvers: 2,
    blockPages: 0,
    ...{ withoutProxies: true, fsync: false },
    variables: { FEED_TOKENS: OLD, DRAIN_S: '1', PROPAGATION_TIMEOUT_MS: '30000' },
    onUnexpectedExit: (explanation) => faults.push(explanation),
  });
  const client = new DnsClient();
  try {
    await deployment.start();
    let stopped = false;
    let asked = 0;
    const asking = (async () => {
      for (; !stopped; asked++) {
        // Every other query begins with the other resolver.
        const ports = asked % 2 === 0 ? deployment.dnsPorts : deployment.dnsPorts.toReversed();
        const seen = await subscriber(client, ports, `q${asked}.example`);
        if (!seen?.includes(UPSTREAM_ADDRESS))
          faults.push(`${new Date().toISOString()} q${asked}.example: ${seen}`);
        await sleep(5);
      }
    })();
    let changes = 0;
    const change = async () => {
      const replica = deployment.replicas.findIndex(({ up }) => up);
      const id = ++changes;
      const reply = await deployment.clients[replica].call('POST', '/blockpage/', { id, type: 0 });
      if (reply.status !== 201 || reply.applied !== reply.total || reply.total === 0) {
        faults.push(`change ${id}: ${JSON.stringify(reply)}`);
      }
      return reply.status === 201 ? reply.total : null;
    };
    await change();
    for (const variables of STEPS) {
      for (const one of [...deployment.replicas, ...deployment.resolvers]) {
        await restart(one, variables);
        expect(await change()).toBe(2);
      }
    }
    stopped = true;
    await asking;
    expect(faults.slice(0, 5)).toEqual([]);
    expect(asked).toBeGreaterThan(100);
    const feed = async (token: string) =>
      (await fetch(`${deployment.feedUrl}/`, { headers: { Authorization: `Bearer ${token}` } }))
        .status;
    expect(await feed(OLD)).toBe(401);
    expect(await feed(NEW)).not.toBe(401);
  } finally {
    await client.close();
    await deployment.stop();
    rmSync(folder, { recursive: true });
  }
}, 600_000);

async function restart(one: WeirProcess, variables: Readonly<Record<string, string>>) {
  await one.terminate();
  await one.start(variables);
}
