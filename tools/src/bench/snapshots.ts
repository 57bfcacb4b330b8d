/*
 * Benchmark of followers that start at once: `npm run bench:snapshots -- [followers] [networks] [root]`; 100 and
 * 200,000 if not given. `root` is another checkout, built, to compare with.
 *
 * It starts PostgreSQL, Redis and a control plane, each as its own process, fills them, and downloads a snapshot for
 * each follower, all at once and over connections of their own, as a follower does that obeys Retry-After. It reads
 * the bytes and does nothing with them. It prints figures and asserts nothing.
 */
import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { Agent, get, type IncomingMessage } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { print, progress } from '../output.js';
import { cpuMs, peakResidentMiB } from '../services/control-plane.js';
import { initBody } from './init-body.js';
import { describeMachine } from './machine.js';
import { type BenchServices, startServices } from './services.js';

const OWN_ROOT = fileURLToPath(new URL('../../..', import.meta.url));
/** In ms, until a request without an answer that says more is repeated. */
const RETRY_MS = 1_000;

const [followers = 100, networks = 200_000] = process.argv.slice(2, 4).map(Number);
const root = process.argv[4] ?? OWN_ROOT;
const size = { networks, profiles: networks / 10, domains: networks, portRanges: networks / 10 };

const folder = mkdtempSync(join(tmpdir(), 'weir-bench-snapshots-'));
const services = await startServices(root, folder);
try {
  progress(`POST /init/ with ${networks} networks and as many rules …`);
  await services.client.send('POST', '/init/', initBody(size, 0));
  await measure(services);
} finally {
  await services.stop();
  rmSync(folder, { recursive: true, force: true });
}

async function measure({ controlPlane, postgresPid }: BenchServices): Promise<void> {
  const { pid, feedUrl, token } = controlPlane;
  const memoryBefore = peakResidentMiB(pid);
  const [cpuBefore, postgresBefore] = [cpuMs(pid), familyCpuMs(postgresPid)];
  const startedMs = performance.now();
  const downloads = await Promise.all(
    Array.from({ length: followers }, () => download(feedUrl, token)),
  );
  const ends = downloads.map(({ endMs }) => (endMs - startedMs) / 1000).sort((a, b) => a - b);
  const bytes = downloads.reduce((sum, one) => sum + one.bytes, 0);
  const refusals = downloads.reduce((sum, one) => sum + one.refusals, 0);
  const at = (share: number): string =>
    (ends[Math.max(1, Math.ceil(share * followers)) - 1] ?? 0).toFixed(1);
  print(describeMachine());
  print(
    `${followers} snapshots of ${(bytes / followers / 1e6).toFixed(1)} MB: first after ${at(0)} s, ` +
      `half after ${at(0.5)} s, all after ${at(1)} s; put off ${refusals} times`,
  );
  const [cpu, postgresCpu] = [cpuMs(pid) - cpuBefore, familyCpuMs(postgresPid) - postgresBefore];
  print(
    `processor time: control plane ${(cpu / 1000).toFixed(1)} s, PostgreSQL ${(postgresCpu / 1000).toFixed(1)} s; ` +
      `memory of the control plane: ${memoryBefore} MiB before, ${peakResidentMiB(pid)} MiB at most`,
  );
}

interface Download {
  readonly endMs: number;
  readonly bytes: number;
  readonly refusals: number;
}

async function download(feedUrl: string, token: string): Promise<Download> {
  const agent = new Agent({ keepAlive: false });
  const headers = { Authorization: `Bearer ${token}`, Accept: 'application/zstd' };
  for (let refusals = 0; ; refusals++) {
    let retryMs = RETRY_MS;
    try {
      const response = await new Promise<IncomingMessage>((resolve, reject) => {
        const url = new URL('/snapshot?atLeast=0', feedUrl);
        get(url, { agent, headers }, resolve).on('error', reject);
      });
      let bytes = 0;
      for await (const chunk of response as AsyncIterable<Buffer>) bytes += chunk.length;
      if (response.statusCode === 200) return { endMs: performance.now(), bytes, refusals };
      const seconds = Number(response.headers['retry-after'] ?? 0);
      if (seconds > 0) retryMs = (seconds + Math.random()) * 1000;
    } catch {
      // It broke off.
    }
    await sleep(retryMs);
  }
}

/** Processor time of a process and of its children, those that have ended too, in ms (Linux). */
function familyCpuMs(parent: number): number {
  let sum = 0;
  for (const pid of readdirSync('/proc').filter((name) => /^\d+$/.test(name))) {
    try {
      const fields = readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ')[1]?.split(' ') ?? [];
      const isParent = Number(pid) === parent;
      if (!isParent && Number(fields[1]) !== parent) continue;
      const times = isParent ? fields.slice(11, 15) : fields.slice(11, 13);
      sum += times.reduce((all, ticks) => all + Number(ticks) * 10, 0);
    } catch {
      // It has ended meanwhile.
    }
  }
  return sum;
}
