import { decodeMessage, encodeQuery } from '@weir/dns-wire/testing';
import { domainRule, loopback, profile } from '@weir/policy-feed/testing';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { expect, it } from 'vitest';
import { makeCertificate } from '@weir/ops/testing';
import { askUdp, type Server } from '../testing/client.js';
import { useResolverEnvironment } from '../testing/resolver-environment.js';
import { startResolverProcess } from '../testing/resolver-process.js';
import { FailingUpstreams } from '../testing/soak/failing-upstreams.js';
import { Load } from '../testing/soak/load.js';
import { growthOf, type MemorySample, readLosses, sampleMemory } from '../testing/soak/memory.js';

/*
 * `SOAK_SECONDS=300 SOAK_RATE=1500 npm run test:soak` runs one resolver process under a mixed load,
 * while its configuration changes ten times per second and its upstreams fail in turns. `npm test` has a short run.
 * Memory is checked only in runs of a minute or more.
 */
const SECONDS = Number(process.env['SOAK_SECONDS'] ?? 8);
const RATE = Number(process.env['SOAK_RATE'] ?? 500);
const MIN_MEASURED_SECONDS = 60;
const SAMPLE_MS = 2_000;
const CHANGE_MS = 100;
const LINES = 20;

const environment = useResolverEnvironment();
const print = (text: string): boolean => process.stdout.write(`soak: ${text}\n`);

/** Blocks and permits a name in turns. Each change must hold for the next query. @returns the number of changes */
async function changeConfiguration(server: Server, isOver: () => boolean): Promise<number> {
  let changes = 0;
  for (; !isOver(); changes++) {
    const name = `c${changes % 200}.changing.blocked.example`;
    await environment.plane.commit(
      domainRule(1, 'deny', name),
      domainRule(1, 'allow', `a.${name}`),
    );
    const answer = await askUdp(server, encodeQuery(name, 1, { udpBytes: 1232 }));
    expect(decodeMessage(answer!).ede).toEqual([17]);
    if (changes % 100 === 99) await environment.plane.replace(...CONFIGURED);
    await sleep(CHANGE_MS);
  }
  return changes;
}

const CONFIGURED = [profile(1), loopback(1), domainRule(1, 'deny', 'blocked.example')];

it(
  `loses no query and does not grow in ${SECONDS} s of load, changes and failing upstreams`,
  async () => {
    const upstreams = new FailingUpstreams();
    await upstreams.start();
    environment.cleanups.push(() => upstreams.stop());
    await environment.plane.commit(...CONFIGURED);
    const folder = mkdtempSync(join(tmpdir(), 'weir-soak-'));
    environment.cleanups.push(() => {
      rmSync(folder, { recursive: true });
    });
    const [DNS_TLS_CERT, DNS_TLS_KEY] = [join(folder, 'dns.crt'), join(folder, 'dns.key')];
    makeCertificate(DNS_TLS_CERT, DNS_TLS_KEY);
    const { child, output, exited, ready } = startResolverProcess({
      ...environment.variables,
      DNS_TLS_PORT: '0',
      DNS_HTTPS_PORT: '0',
      DNS_TLS_CERT,
      DNS_TLS_KEY,
      CLIENT_TLS_HANDSHAKE_RATE: '0',
      UPSTREAMS: upstreams.list,
      CACHE_SIZE_MB: '4',
    });
    environment.cleanups.push(() => child.kill('SIGKILL'));
    const { dns, opsPort } = await ready();
    const load = new Load(dns, RATE);
    await load.start();
    let isOver = false;
    const changing = changeConfiguration(dns, () => isOver);
    const samples: MemorySample[] = [];
    const startedMs = performance.now();
    const seconds = (): number => (performance.now() - startedMs) / 1000;
    const between = Math.max(1, Math.round((SECONDS * 1000) / SAMPLE_MS / LINES));
    while (seconds() < SECONDS) {
      const sample = await sampleMemory(opsPort, Math.round(seconds()));
      if (samples.push(sample) % between === 1 || between === 1) printSample(sample, load);
      await sleep(SAMPLE_MS);
    }
    isOver = true;
    const changes = await changing;
    await load.stop();
    print(`losses that the resolver knows: ${await readLosses(opsPort)}`);
    child.kill('SIGTERM');
    expect(await exited).toBe(0);
    print(
      `${load.sent} sent, ${load.answered} answered, ${load.lost} lost, longest ${Math.round(load.longestMs)} ms, ` +
        `${changes} changes, ${upstreams.asked} upstream queries, ` +
        `answers by RCODE ${JSON.stringify([...load.rcodes])}`,
    );
    expect(output.errors).toBe('');
    expect(load).toMatchObject({ lost: 0, strays: 0, answered: load.sent });
    expect(load.sent).toBeGreaterThan((SECONDS * RATE) / 4);
    if (SECONDS >= MIN_MEASURED_SECONDS) expect(growthOf(samples)).toBeNull();
  },
  (SECONDS + 180) * 1000,
);

function printSample(
  { second, rss, heap, external, resources }: MemorySample,
  { answered, lost }: Load,
): void {
  const memory = [rss, heap, external].map((one) => one.toFixed(1));
  print(
    `${second} s: resident ${memory[0]}, heap ${memory[1]}, external ${memory[2]} MiB, ` +
      `${resources} sockets and timers; ` +
      `${answered} answered, ${lost} lost`,
  );
}
