import { hashDomain, parseHashKey } from '@weir/dns-name';
import { encodeQuery } from '@weir/dns-wire/testing';
import { LineOutput } from '@weir/ops';
import { domainRule, HASH_KEY_HEX, loopback, policyOf, profile } from '@weir/policy-feed/testing';
import { execFileSync } from 'node:child_process';
import { constants, mkdtempSync, openSync, readFileSync, rmSync } from 'node:fs';
import { Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import type { DnsConfiguration } from '../configuration.js';
import { QueryLog } from '../query-log/query-log.js';
import { Exchange } from '../query/exchange.js';
import { a, cname } from '../query/testing/records.js';
import { askOneTcp, askUdp } from '../testing/client.js';
import { respond } from '../testing/respond.js';
import { UpstreamServer } from '../testing/upstream-server.js';
import { withSecretCategory } from '../testing/secret-category.js';
import { createService } from '../testing/service.js';

function folder(): string {
  const path = mkdtempSync(join(tmpdir(), 'weir-query-log-'));
  onTestFinished(() => {
    rmSync(path, { recursive: true });
  });
  return path;
}

/** Sends a few queries to a service. @returns the lines of its query log */
async function logOf(configuration: Partial<DnsConfiguration>) {
  const upstream = await UpstreamServer.start((query) =>
    respond(query, { answers: [a('192.0.2.1')] }),
  );
  const file = join(folder(), 'log');
  const service = createService(configuration, {
    upstreams: [upstream.endpoint],
    source: { policy: policyOf(profile(7), loopback(7), domainRule(7, 'deny', 'blocked.example')) },
    queryLogOutput: new LineOutput(openSync(file, 'a')),
  });
  const server = await service.start();
  for (const name of ['www.Example.com', 'x.blocked.example']) {
    await askUdp(server, encodeQuery(name, 1));
  }
  await askOneTcp(server, encodeQuery('www.example.com', 64_000));
  await askUdp(server, encodeQuery('version.bind', 16, { qclass: 3 }));
  await askUdp(server, encodeQuery('www.example.com', 1, { flags: 0x2000 }));
  await service.stop();
  await upstream.stop();
  if (service.queryLog === null) return null;
  const lines = readFileSync(file, 'utf8').split('\n').slice(0, -1);
  return lines.map((line) => JSON.parse(line) as Record<string, unknown>);
}

const hashOf = (name: string) => hashDomain(name, parseHashKey(HASH_KEY_HEX));

describe('the query log', () => {
  it('is off by default', async () => {
    expect(await logOf({})).toBeNull();
  });

  it('logs each answer with the name hash of the management API, and nothing about the client', async () => {
    const lines = await logOf({ QUERY_LOG_SAMPLING: 1 });
    const base = { process: 'resolver', level: 'info', msg: 'query', transport: 'udp' };
    expect(lines).toMatchObject([
      {
        ...base,
        nameHash: hashOf('www.example.com'),
        type: 'A',
        verdict: 'permit',
        reason: 'none',
        rcode: 'NOERROR',
        source: 'upstream',
        profile: 7,
      },
      {
        ...base,
        nameHash: hashOf('x.blocked.example'),
        verdict: 'block',
        reason: 'domain_rule',
        source: 'blocked',
      },
      { ...base, transport: 'tcp', type: 'TYPE64000', source: 'upstream' },
      { ...base, type: 'TXT', verdict: 'unfiltered', rcode: 'REFUSED', source: 'local' },
      { ...base, type: 'none', verdict: 'none', rcode: 'NOTIMP' },
    ]);
    expect(lines?.[0].ms).toBeTypeOf('number');
    expect(lines?.[3]).not.toHaveProperty('nameHash');
    expect(lines?.[4]).not.toHaveProperty('nameHash');
    expect(JSON.stringify(lines)).not.toMatch(/example|127\.0\.0\.1/i);
  });

  it('contains names when QUERY_LOG_NAMES is on', async () => {
    const lines = await logOf({ QUERY_LOG_SAMPLING: 1, QUERY_LOG_NAMES: true });
    expect(lines?.map(({ name }) => name)).toEqual([
      'www.Example.com',
      'x.blocked.example',
      'www.example.com',
      'version.bind',
      undefined,
    ]);
  });

  it.each([false, true])(
    'tells nothing of a name that a secret category denies (QUERY_LOG_NAMES %s)',
    async (names) => {
      const upstream = await UpstreamServer.start((query) =>
        respond(query, { answers: [cname('x.secret.example')] }),
      );
      const file = join(folder(), 'log');
      const service = createService(
        { QUERY_LOG_SAMPLING: 1, QUERY_LOG_NAMES: names },
        {
          upstreams: [upstream.endpoint],
          source: {
            policy: withSecretCategory(policyOf(profile(7), loopback(7)), 'secret.example'),
          },
          queryLogOutput: new LineOutput(openSync(file, 'a')),
        },
      );
      const server = await service.start();
      // The name itself, and one that leads there: asked for, and from the cache.
      for (const name of ['x.secret.example', 'alias.example', 'alias.example']) {
        await askUdp(server, encodeQuery(name, 1));
      }
      await service.stop();
      await upstream.stop();
      const lines = readFileSync(file, 'utf8').split('\n').slice(0, -1);
      for (const line of lines) {
        const entry = JSON.parse(line) as Record<string, unknown>;
        expect(entry).toMatchObject({ verdict: 'block', reason: 'order' });
        expect(entry).not.toHaveProperty('name');
        expect(entry).not.toHaveProperty('nameHash');
        expect(line).not.toMatch(/secret|alias|Hidden|mandatory/);
      }
      expect(lines).toHaveLength(3);
    },
  );

  it('logs one of every n answers', async () => {
    expect(await logOf({ QUERY_LOG_SAMPLING: 2 })).toHaveLength(3);
  });

  it('drops and counts lines when the reader is too slow', async () => {
    const fifo = join(folder(), 'fifo');
    execFileSync('mkfifo', [fifo]);
    // Both ends are open and nothing is read: the pipe fills up.
    const pipe = openSync(fifo, constants.O_RDWR | constants.O_NONBLOCK);
    const output = new LineOutput(pipe);
    const log = new QueryLog({ sampling: 1, showNames: false, output, capacityBytes: 16_384 });
    const exchange = new Exchange();
    exchange.replyPath = { ...exchange.replyPath, transport: 0 };
    const note = { verdict: 0, reason: 0, rcode: 0, source: 0, profileId: 1, nowMs: 0 } as const;
    const total = 3_000;
    for (let i = 0; i < total; i++) log.write(exchange, note);
    log.flush();
    expect(log.sampled).toBe(total);
    expect(log.dropped).toBeGreaterThan(0);
    let text = '';
    const reader = new Socket({ fd: pipe, readable: true, writable: false });
    onTestFinished(() => void reader.destroy());
    reader.on('data', (chunk: Buffer) => (text += chunk.toString()));
    const lines = () => text.split('\n').slice(0, -1);
    await expect.poll(() => lines().length).toBe(log.sampled - log.dropped);
    for (const line of lines()) expect(JSON.parse(line)).toMatchObject({ msg: 'query' });
  });
});
