import {
  decodeMessage,
  encodeMessage,
  encodeQuery,
  hexOf,
  opt,
  option,
  wireName,
} from '@weir/dns-wire/testing';
import { domainRule, loopback, policyOf, profile } from '@weir/policy-feed/testing';
import { Worker } from 'node:worker_threads';
import { describe, expect, it } from 'vitest';
import { readRecords } from '../local-records/read-records.js';
import { askOneTcp, askUdp } from '../testing/client.js';
import type { LaneClient } from '../testing/lane-client-worker.js';
import {
  BLOCKED,
  holdLanes,
  PERMITTED,
  serveByLanes,
  udpClients,
} from '../testing/lane-service.js';
import { recordsFile } from '../testing/records-file.js';
import { TestClock } from '../testing/test-clock.js';

const LOCALHOST = '7f000001';

describe('a lane', () => {
  it('answers blocked, cached and special names while the main thread does nothing', async () => {
    const { server, ask, upstream, service } = await serveByLanes();
    // Now it is in the cache.
    expect(await ask('www.example.com')).toBe(PERMITTED);
    const words = new Int32Array(new SharedArrayBuffer(12));
    const workerData: LaneClient = {
      address: server.address,
      port: server.port,
      queries: [
        ['www.blocked.example', BLOCKED],
        ['www.example.com', PERMITTED],
        ['localhost', LOCALHOST],
      ].map(([name, end]) => ({ packet: encodeQuery(name, 1), end: Buffer.from(end, 'hex') })),
      rounds: 300,
      words,
    };
    const client = new Worker(new URL('../testing/lane-client-worker.ts', import.meta.url), {
      workerData,
      execArgv: [],
    });
    await new Promise((resolve) => client.once('online', resolve));
    Atomics.store(words, 0, 1);
    Atomics.notify(words, 0);
    // From here on this thread, which is the main thread of the service, is blocked.
    for (let seen = 0; seen < 900; seen = Atomics.load(words, 1)) {
      if (Atomics.wait(words, 1, seen, 120_000) === 'timed-out') break;
    }
    expect([...words.subarray(1)]).toEqual([900, 0]);
    expect(upstream.asked).toHaveLength(1);
    expect(service.counts.queries.droppedCounts().filter(([, count]) => count > 0)).toEqual([]);
    await new Promise((resolve) => client.once('exit', resolve));
  });

  it('obeys each change from the moment of its acknowledgement', async () => {
    const { server, source, lanes } = await serveByLanes(
      { RESOLVER_THREADS: 2 },
      { parksLanes: false },
    );
    const sockets = await udpClients(8);
    const answers = () =>
      Promise.all(
        sockets.map(
          (socket) =>
            new Promise<string>((resolve) => {
              socket.once('message', (answer) => {
                resolve(hexOf(answer.subarray(-4)));
              });
              socket.send(encodeQuery('www.changing.example', 1), server.port, server.address);
            }),
        ),
      );
    for (let revision = 2; revision < 60; revision++) {
      const isDenied = revision % 2 === 0;
      const operations = [domainRule(1, isDenied ? 'deny' : 'allow', 'changing.example')];
      source.change(() => source.policy?.apply({ revision, digest: '', operations }));
      expect(new Set(await answers())).toEqual(new Set([isDenied ? BLOCKED : PERMITTED]));
    }
    expect(lanes.filter(({ laneCounts }) => laneCounts.answers > 0)).toHaveLength(2);
  });

  it('shares limits with the others: at most one query more for each', async () => {
    const clock = new TestClock({ monotonicMs: 5000 });
    const { server, lanes, service } = await serveByLanes(
      { RESOLVER_THREADS: 2, CLIENT_QUERY_RATE: 100 },
      { times: clock.times, parksLanes: false },
    );
    const sockets = await udpClients(8);
    let answered = 0;
    for (const socket of sockets) socket.on('message', () => answered++);
    const dropped = () =>
      service.counts.queries.droppedCounts().find(([{ why }]) => why === 'limited')?.[1] ?? 0;
    for (let i = 1; i <= 50; i++) {
      for (const socket of sockets) {
        socket.send(encodeQuery('www.blocked.example', 1), server.port, server.address);
      }
      await expect.poll(() => answered + dropped(), { interval: 1 }).toBe(i * sockets.length);
    }
    expect(answered).toBeGreaterThanOrEqual(100);
    expect(answered).toBeLessThanOrEqual(101);
    expect(lanes.every(({ laneCounts }) => laneCounts.answers > 0)).toBe(true);
  });

  it('gives cookies that the stream lane accepts', async () => {
    const { server } = await serveByLanes({ DNS_COOKIE_SECRETS: undefined });
    const cookieOf = (answer: Uint8Array | null) => /000a0018(.{48})/.exec(hexOf(answer!))?.[1];
    const queryWith = (name: string, cookie: string) =>
      encodeMessage({
        flags: 0x0100,
        questions: [{ qname: wireName(name), qtype: 1 }],
        additionals: [opt(1232, 0, option(10, [...Buffer.from(cookie, 'hex')]))],
      });
    const name = 'www.blocked.example';
    const cookie = cookieOf(await askUdp(server, queryWith(name, '0102030405060708')));
    // A valid one comes back as it is.
    expect(cookieOf(await askOneTcp(server, queryWith(name, cookie!)))).toBe(cookie);
  });

  it('counts its turns and naps', async () => {
    const { server, service, ask } = await serveByLanes({ UDP_NAP_US: 1_000 });
    const { laneCounts } = service.lanes.udp[0];
    const [client] = await udpClients(1);
    while (laneCounts.naps === 0) {
      for (let n = 0; n < 16; n++) {
        client.send(encodeQuery('www.blocked.example', 1), server.port, server.address);
      }
      expect(await ask('www.blocked.example')).toBe(BLOCKED);
    }
    // A turn is counted when its answers are sent, so a client may be faster.
    await expect
      .poll(() => laneCounts.turns.count - laneCounts.batches.count)
      .toBeGreaterThanOrEqual(0);
    expect(laneCounts.turns.sum).toBeGreaterThan(0);
  });

  it('has every question answered while it naps between turns', async () => {
    // On this clock no time passes between two turns.
    const clock = new TestClock({ monotonicMs: 5000 });
    const { lanes, ask } = await serveByLanes({}, { times: clock.times });
    const [{ laneCounts }] = lanes;
    for (let n = 0; n < 20; n++) expect(await ask(`next-${n}.example.com`)).toBe(PERMITTED);
    expect(laneCounts.naps).toBeGreaterThan(0);
    const names = Array.from({ length: 100 }, (_, n) => `www-${n}.example.com`);
    expect(new Set(await Promise.all(names.map(ask)))).toEqual(new Set([PERMITTED]));
    expect(await ask('last.example.com')).toBe(PERMITTED);
  });

  it('never naps with UDP_NAP_US=0', async () => {
    const clock = new TestClock({ monotonicMs: 5000 });
    const { lanes, ask } = await serveByLanes({ UDP_NAP_US: 0 }, { times: clock.times });
    for (let n = 0; n < 20; n++) expect(await ask(`www-${n}.example.com`)).toBe(PERMITTED);
    expect(lanes[0].laneCounts.naps).toBe(0);
  });

  it('ends the resolver when its thread ends', async () => {
    const { ask, lanes, service, logged } = await serveByLanes();
    expect(await ask('www.blocked.example')).toBe(BLOCKED);
    await lanes[0].terminate();
    await expect(service.lanes.lost).rejects.toThrow('a thread for UDP ended');
    expect(logged).toEqual(['a thread that answers ended, and the resolver with it']);
  });

  it('ends the resolver when it fails on a policy', async () => {
    const { source, service } = await serveByLanes();
    const broken = policyOf(profile(1), loopback(1));
    broken.setCatalogue({ shareable: 'no image' } as never);
    source.policy = broken;
    await expect(service.lanes.lost).rejects.toThrow(
      /^a thread for (UDP|streams) ended: Catalogue/,
    );
  });

  it('ends the resolver when it hangs', async () => {
    const { source, service, logged } = await serveByLanes({}, { laneCheckMs: 200 });
    // As if the writer had never come back: the lane waits inside the lock.
    const release = holdLanes(source);
    await expect(service.lanes.lost).rejects.toThrow('a thread for UDP hangs');
    release();
    expect(logged[0]).toBe('a thread that answers hangs, and the resolver ends');
  });

  it('gets changed files from the main thread', async () => {
    const { ask, service, server } = await serveByLanes();
    service.lanes.update({
      localRecords: readRecords(recordsFile('portal.example A 192.0.2.77')),
    });
    expect(await ask('portal.example')).toBe('c000024d');
    expect(service.lanes.udp[0].laneCounts.answers).toBe(1);
    expect(decodeMessage((await askUdp(server, encodeQuery('portal.example', 28)))!)).toMatchObject(
      { rcode: 0, answers: [] },
    );
  });
});
