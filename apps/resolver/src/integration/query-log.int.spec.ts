import { hashDomain, parseHashKey } from '@weir/dns-name';
import { encodeQuery } from '@weir/dns-wire/testing';
import { LineOutput } from '@weir/ops';
import { domainRule, HASH_KEY_HEX, loopback, policyOf, profile } from '@weir/policy-feed/testing';
import { execFileSync } from 'node:child_process';
import { constants, mkdtempSync, openSync, readFileSync, rmSync } from 'node:fs';
import { Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Worker } from 'node:worker_threads';
import { describe, expect, it, onTestFinished } from 'vitest';
import type { DnsConfiguration } from '../configuration.js';
import { LogCount, LogCounts } from '../metrics/log-counts.js';
import { QueryLog } from '../query-log/query-log.js';
import { Exchange } from '../query/exchange.js';
import { a, cname } from '../query/testing/records.js';
import { askOneTcp, askUdp } from '../testing/client.js';
import { respond } from '../testing/respond.js';
import { UpstreamServer } from '../testing/upstream-server.js';
import { withSecretCategory } from '../testing/secret-category.js';
import { createService } from '../testing/service.js';
import { BLOCKED, serveByLanes, udpClients } from '../testing/lane-service.js';
import type { LaneClient } from '../testing/lane-client-worker.js';

function folder(): string {
  const path = mkdtempSync(join(tmpdir(), 'weir-query-log-'));
  onTestFinished(() => {
    rmSync(path, { recursive: true });
  });
  return path;
}

/** Sends a few queries to a service. @returns the lines of its query log: those of UDP, then those of TCP */
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
  const lines = readFileSync(file, 'utf8').split('\n').slice(0, -1);
  return lines
    .map((line) => JSON.parse(line) as Record<string, unknown>)
    .toSorted((a, b) =>
      a['transport'] === b['transport'] ? 0 : a['transport'] === 'tcp' ? 1 : -1,
    );
}

const hashOf = (name: string) => hashDomain(name, parseHashKey(HASH_KEY_HEX));

describe('the query log', () => {
  it('is off by default', async () => {
    expect(await logOf({})).toEqual([]);
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
      { ...base, type: 'TXT', verdict: 'unfiltered', rcode: 'REFUSED', source: 'local' },
      { ...base, type: 'none', verdict: 'none', rcode: 'NOTIMP' },
      { ...base, transport: 'tcp', type: 'TYPE64000', source: 'upstream' },
    ]);
    expect(lines[0].ms).toBeTypeOf('number');
    expect(lines[2]).not.toHaveProperty('nameHash');
    expect(lines[3]).not.toHaveProperty('nameHash');
    expect(JSON.stringify(lines)).not.toMatch(/example|127\.0\.0\.1/i);
  });

  it('contains names when QUERY_LOG_NAMES is on', async () => {
    const lines = await logOf({ QUERY_LOG_SAMPLING: 1, QUERY_LOG_NAMES: true });
    expect(lines.map(({ name }) => name)).toEqual([
      'www.Example.com',
      'x.blocked.example',
      'version.bind',
      undefined,
      'www.example.com',
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
    const numbers = new Float64Array(LogCounts.size);
    const counts = new LogCounts(numbers);
    let written = 0;
    const write = (piece: string, count: number) => {
      const isWritten = output.write(piece, 16_384);
      if (isWritten) written += count;
      return isWritten;
    };
    const log = new QueryLog({ sampling: 1, showNames: false, write, counts });
    const exchange = new Exchange();
    exchange.replyPath = { ...exchange.replyPath, transport: 0 };
    const note = { verdict: 0, reason: 0, rcode: 0, source: 0, profileId: 1, nowMs: 0 } as const;
    const total = 3_000;
    for (let i = 0; i < total; i++) log.write(exchange, note);
    log.flush();
    const lostLines = numbers[LogCount.lostLines];
    expect(written + lostLines).toBe(total);
    expect(lostLines).toBeGreaterThan(0);
    let text = '';
    const reader = new Socket({ fd: pipe, readable: true, writable: false });
    onTestFinished(() => void reader.destroy());
    reader.on('data', (chunk: Buffer) => (text += chunk.toString()));
    const lines = () => text.split('\n').slice(0, -1);
    await expect.poll(() => lines().length).toBe(total - lostLines);
    for (const line of lines()) expect(JSON.parse(line)).toMatchObject({ msg: 'query' });
  });
});

/** Lanes whose lines go to a file. */
async function logLanes(lanes: number) {
  const file = join(folder(), 'log');
  const served = await serveByLanes(
    { QUERY_LOG_SAMPLING: 1, RESOLVER_THREADS: lanes },
    { parksLanes: false, queryLogOutput: new LineOutput(openSync(file, 'a')) },
  );
  return {
    ...served,
    lines: () => {
      const lines = readFileSync(file, 'utf8').split('\n').slice(0, -1);
      return lines.map((line) => JSON.parse(line) as Record<string, unknown>);
    },
  };
}

/** A client in a thread of its own gets so many answers while this thread, the main one of the service, is blocked. */
async function askMeanwhile(
  { address, port }: { address: string; port: number },
  { rounds, blockedMs }: { rounds: number; blockedMs: number },
): Promise<void> {
  const words = new Int32Array(new SharedArrayBuffer(12));
  const packet = encodeQuery('www.blocked.example', 1);
  const queries = [{ packet, end: Buffer.from(BLOCKED, 'hex') }];
  const client = new Worker(new URL('../testing/lane-client-worker.ts', import.meta.url), {
    workerData: { address, port, queries, rounds, words } satisfies LaneClient,
    execArgv: [],
  });
  await new Promise((resolve) => client.once('online', resolve));
  const endMs = performance.now() + blockedMs;
  Atomics.store(words, 0, 1);
  Atomics.notify(words, 0);
  for (let seen = 0; seen < rounds; seen = Atomics.load(words, 1)) {
    if (Atomics.wait(words, 1, seen, 120_000) === 'timed-out') break;
  }
  expect([...words.subarray(1)]).toEqual([rounds, 0]);
  // The lane writes what it has collected each second.
  Atomics.wait(words, 2, 0, Math.max(0, endMs - performance.now()));
  await new Promise((resolve) => client.once('exit', resolve));
}

describe('the query log of lanes', () => {
  it('has a line for each answer of each lane when the service has stopped', async () => {
    const { service, server, lanes, lines } = await logLanes(2);
    const clients = await udpClients(8);
    let asked = 0;
    while (asked < 100 || lanes.some(({ laneCounts }) => laneCounts.answers === 0)) {
      for (const client of clients) {
        const answer = new Promise((resolve) => client.once('message', resolve));
        client.send(encodeQuery(`n${asked}.example`, 1), server.port, server.address);
        await answer;
        asked++;
      }
    }
    await service.stop();
    expect(new Set(lines().map(({ nameHash }) => nameHash)).size).toBe(asked);
    expect(lines()).toHaveLength(asked);
    expect(service.counts.logs).toMatchObject({ writtenLines: asked, lostLines: 0 });
  });

  it('loses nothing while the main thread is blocked for two seconds', async () => {
    const { service, server, lines } = await logLanes(1);
    await askMeanwhile(server, { rounds: 1_000, blockedMs: 2_000 });
    await service.stop();
    expect(lines()).toHaveLength(1_000);
    expect(service.counts.logs.lostLines).toBe(0);
  });

  it('loses and counts lines that have no room until the main thread takes them', async () => {
    const { service, server, lines } = await logLanes(1);
    const rounds = 6_000;
    await askMeanwhile(server, { rounds, blockedMs: 0 });
    const { lostLines } = service.counts.logs;
    expect(lostLines).toBeGreaterThan(0);
    // Now there is room again.
    await expect.poll(() => lines().length).toBeGreaterThan(0);
    await askMeanwhile(server, { rounds: 10, blockedMs: 0 });
    await service.stop();
    const writtenLines = rounds + 10 - lostLines;
    expect(service.counts.logs).toMatchObject({ writtenLines, lostLines });
    expect(lines()).toHaveLength(writtenLines);
  });
});
