/*
 * Benchmark of the block page: `npm run bench:block-page` on a built tree.
 *
 * Real processes on loopback, with the configuration of a large provider: 1 M networks, 10 k profiles, 1 M domains,
 * 100 k port ranges. Each request comes from another subscriber, for a name that this subscriber blocks, on its own
 * connection, as browsers do. The load generator runs on the same machine, so the processor time for a page says
 * more than the pages per second.
 */
import { mkdtempSync, rmSync } from 'node:fs';
import { connect } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { print } from '../output.js';
import type { Child } from '../services/child.js';
import { type ControlPlaneProcess, cpuMs, peakResidentMiB } from '../services/control-plane.js';
import { freePort } from '../services/ports.js';
import { spawnWeir } from '../services/weir.js';
import { FULL_SIZE, initBody } from './init-body.js';
import { startServices } from './services.js';
import { describeLoad, describeMachine, measureLatencies, shareOf, summarise } from './figures.js';

const ROOT = fileURLToPath(new URL('../../..', import.meta.url));
const ROUNDS = 5;
const VISITORS = 16;
const PAGES_A_ROUND = shareOf(10_000);

const folder = mkdtempSync(join(tmpdir(), 'weir-bench-block-page-'));
const services = await startServices(ROOT, folder);
const { controlPlane, client, redisUrl } = services;
const port = await freePort();
let blockPage: Child | undefined;
try {
  print(describeMachine());
  await client.send('POST', '/init/', initBody(FULL_SIZE, 0));
  blockPage = await startBlockPage(controlPlane);
  for (let round = 1; round <= ROUNDS; round++) await measureRound(round, blockPage.pid);
} finally {
  await blockPage?.stop();
  await services.stop();
  rmSync(folder, { recursive: true, force: true });
}

async function startBlockPage({ feedUrl, token }: ControlPlaneProcess): Promise<Child> {
  const { child, ready } = await spawnWeir('block-page', {
    root: ROOT,
    folder,
    variables: {
      REDIS_URL: redisUrl,
      FEED_URL: feedUrl,
      FEED_TOKENS: token,
      BLOCK_PAGE_PORT: String(port),
      BLOCK_PAGE_TRUSTED_PROXIES: '127.0.0.1',
    },
  });
  await ready();
  return child;
}

async function measureRound(round: number, pid: number): Promise<void> {
  let left = PAGES_A_ROUND;
  const [startedMs, startedCpuMs] = [performance.now(), cpuMs(pid)];
  const each = await Promise.all(
    Array.from({ length: VISITORS }, () =>
      measureLatencies(
        () => visit(left),
        () => left-- > 0,
      ),
    ),
  );
  const latencies = each.flat();
  const perSecond = latencies.length / ((performance.now() - startedMs) / 1000);
  const usAPage = ((cpuMs(pid) - startedCpuMs) * 1000) / latencies.length;
  print(
    `round ${round}: ${perSecond.toFixed(0)} pages/s, ${usAPage.toFixed(0)} us of processor time a page, ` +
      `${summarise(latencies)}; at most ${peakResidentMiB(pid)} MiB; ${describeLoad()}`,
  );
}

/** Opens a name that the subscriber with this number blocks. @throws Error when it is not the page. */
function visit(number: number): Promise<void> {
  // Of `initBody`: even profiles deny their domains; network i is at 10.0.0.0 + 4 i.
  const subscriber = (number * 2) % FULL_SIZE.networks;
  const profile = subscriber % FULL_SIZE.profiles;
  const host = `host-${number % 100}.site-${profile}-0.example.com`;
  const address = 0x0a00_0000 + subscriber * 4;
  const ip = [24, 16, 8, 0].map((shift) => (address >>> shift) & 0xff).join('.');
  return new Promise((resolve, reject) => {
    let received = 0;
    let status = '';
    const socket = connect(port, '127.0.0.1', () => {
      socket.write(
        `GET / HTTP/1.1\r\nHost: ${host}\r\nAccept: text/html\r\nX-Forwarded-For: ${ip}\r\n\r\n`,
      );
    });
    socket.on('data', (bytes: Buffer) => {
      if (received === 0) status = bytes.subarray(9, 12).toString();
      received += bytes.length;
    });
    socket.on('error', reject).on('close', () => {
      if (status === '403' && received > 2000) resolve();
      else reject(new Error(`${host} for ${ip} got ${status} and ${received} bytes`));
    });
  });
}
