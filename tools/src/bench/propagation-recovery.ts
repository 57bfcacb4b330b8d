import { readFileSync, rmSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Deployment } from '../deployment/deployment.js';
import type { WeirProcess } from '../deployment/weir-process.js';
import { change, nextPage, withDeployment } from './propagation-deployment.js';
import { shareOf } from './share.js';

const MISSED = shareOf(10_000);
const WRITERS = 16;
const NETWORKS = shareOf(1_000_000);
const PROFILES = shareOf(1_000);
const RULES = 1_000 * PROFILES;
const AT_HEAD_DEADLINE_MS = 60_000;
const FIRST_ADDRESS = 0x0a00_0000;

/**
 * Kills a resolver, makes changes, and starts it again. Measures the time from its configuration on disk to the
 * head.
 */
export function measureCatchUp(): Promise<Record<string, number>> {
  return withDeployment(2, async (deployment, client) => {
    const [, resolver] = deployment.resolvers;
    const profiles = Array.from({ length: WRITERS }, (_, i) => i + 1);
    for (const id of profiles) await change(client, 'POST', '/profiles/', { profile: { id } });
    await resolver?.kill();
    const each = MISSED / WRITERS;
    await Promise.all(
      profiles.map(async (profile) => {
        for (let n = 0; n < each; n++) await nextPage(client, profile, n);
      }),
    );
    if (resolver === undefined) throw new Error('no resolver');
    const said = await startAndListen(deployment, resolver);
    const fromDisk = said.find(({ cause }) => cause === 'disk');
    return { 'from disk to head': atMs(said.at(-1)) - atMs(fromDisk) };
  });
}

/**
 * Measures `POST /init/` of a whole configuration, then the start of a resolver with an empty folder, then its
 * start from disk.
 */
export function measureSnapshot(): Promise<Record<string, number>> {
  return withDeployment(1, async (deployment, client) => {
    const [resolver] = deployment.resolvers;
    if (resolver === undefined) throw new Error('no resolver');
    const body = configuration();
    const postedMs = performance.now();
    const { applied, total } = await change(client, 'POST', '/init/', body);
    const answeredMs = performance.now();
    if (applied !== 1 || total !== 1) throw new Error(`in force on ${applied}/${total}`);
    await resolver.kill();
    rmSync(deployment.dataFolder(0), { recursive: true });
    const fresh = await startAndListen(deployment, resolver);
    const residentBytes = await resolver.metric('process_resident_memory_bytes');
    await resolver.kill();
    const again = await startAndListen(deployment, resolver);
    return {
      'POST /init/ in force everywhere (ms)': answeredMs - postedMs,
      'snapshot over the feed in force and on disk (ms)': loadMs(fresh, 'start'),
      'snapshot from disk in force (ms)': loadMs(again, 'disk'),
      'resident set of the resolver (MiB)': residentBytes / 2 ** 20,
    };
  });
}

function configuration(): unknown {
  const profileOf = (i: number): number => (i % PROFILES) + 1;
  const perProfile = RULES / PROFILES;
  return {
    blockpages: [],
    profiles: Array.from({ length: PROFILES }, (_, i) => ({
      profile: { id: i + 1 },
      cat_ids: [],
      apps: [],
    })),
    bw_lists: Array.from({ length: PROFILES }, (_, i) => ({
      profile_id: i + 1,
      type: 'deny',
      domains: Array.from({ length: perProfile }, (_domain, n) => `d${n}.p${i}.example`),
    })),
    napts: [],
    nets: Array.from({ length: NETWORKS }, (_, i) => ({
      ip: dotted(FIRST_ADDRESS + i),
      profile_id: profileOf(i),
    })),
    nets6: [],
  };
}

function dotted(address: number): string {
  return [24, 16, 8, 0].map((bits) => (address >>> bits) & 0xff).join('.');
}

interface LogLine {
  readonly time: string;
  readonly msg: string;
  readonly cause?: string;
  readonly durationMs?: number;
}

/** Starts the resolver. @returns its log lines until it is at the head; the last one says that it is ready. */
async function startAndListen(
  deployment: Deployment,
  resolver: WeirProcess,
): Promise<readonly LogLine[]> {
  const file = deployment.logFile(resolver.name);
  const said = readFileSync(file).length;
  await resolver.start();
  const deadlineMs = performance.now() + AT_HEAD_DEADLINE_MS;
  while (performance.now() < deadlineMs) {
    const lines = readFileSync(file).subarray(said).toString('utf8').split('\n').slice(0, -1);
    const parsed = lines.map((line) => JSON.parse(line) as LogLine);
    const ready = parsed.findIndex(({ msg }) => msg === 'ready');
    if (ready >= 0) return parsed.slice(0, ready + 1);
    await sleep(20);
  }
  throw new Error(`${resolver.name} is not at the head after ${AT_HEAD_DEADLINE_MS} ms`);
}

function atMs(line: LogLine | undefined): number {
  return line === undefined ? Number.NaN : new Date(line.time).getTime();
}

function loadMs(said: readonly LogLine[], wanted: string): number {
  return said.find(({ cause }) => cause === wanted)?.durationMs ?? Number.NaN;
}
