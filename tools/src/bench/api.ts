import type { Deployment } from '../deployment/deployment.js';
import type { ManagementClient } from '../deployment/management-client.js';
import { list, name, optionsOrExit, print, value } from '../command.js';
import { cpuMs, familyCpuMs, residentMiB } from '../services/usage.js';
import { withDeployment } from './deployment.js';
import { measureLatencies, shareOf, summarise } from './figures.js';
import { FULL_SIZE, initBody, ipv4, SMALL_SIZE } from './init-body.js';

/** The pause between two other calls beside a large body. */
const PAUSE_MS = 5;
const EXPLANATIONS = shareOf(2000);
const PARTS = ['empty', 'dry-run', 'replace', 'list', 'explain'] as const;

const HELP = `npm run bench:api -- [--parts NAMES]

Measures the management API with the configuration of a large provider: 1 M networks, 10 k profiles of 20 categories and
5 applications, 1 M domains, 100 k port ranges. It starts PostgreSQL, Redis and a control plane, as the local stack does.
parts: ${PARTS.join(', ')}; all of them if not given. Names are separated by commas
  empty: POST /init/ into an empty database, which each of the others needs and begins with
  dry-run: POST /init/?dry_run=true of the same, and of other networks and domains
  replace: POST /init/ of the same again, of another one, of a small one, and after that
  list: GET /net/
  explain: GET /explain/ of one client after the other`;

const { parts } = optionsOrExit(HELP, { parts: value(list(name(PARTS)), PARTS) });

const seconds = (ms: number): string => `${(ms / 1000).toFixed(1)} s`;

await withDeployment({}, async (deployment, client) => {
  await benchInit(deployment, client, 'on an empty database');
  if (parts.includes('dry-run')) {
    await benchInit(deployment, client, 'of the same', { isDryRun: true });
    await benchInit(deployment, client, 'with other networks and domains', {
      isDryRun: true,
      variant: 1,
    });
  }
  if (parts.includes('replace')) {
    await benchInit(deployment, client, 'again, the same');
    await benchInit(deployment, client, 'with other networks and domains', { variant: 1 });
    await benchInit(deployment, client, 'of a small configuration', { size: SMALL_SIZE });
    // The networks of variant 0 stay for what follows.
    await benchInit(deployment, client, 'after a small configuration');
  }
  if (parts.includes('explain')) await benchExplain(deployment, client);
  if (!parts.includes('list')) return;
  const [replica] = deployment.replicas;
  await replica?.terminate();
  await replica?.start();
  await benchList(deployment);
});

async function benchInit(
  deployment: Deployment,
  client: ManagementClient,
  title: string,
  { variant = 0, size = FULL_SIZE, isDryRun = false } = {},
): Promise<void> {
  let done = false;
  const path = isDryRun ? '/init/?dry_run=true' : '/init/';
  // Other clients meanwhile, one after the other: changes do not wait for a dry run.
  const others = measureLatencies(
    () =>
      isDryRun
        ? client.change('PATCH', '/blockpage/1', { type: 0 })
        : client.call('GET', '/profiles/1'),
    () => !done,
    PAUSE_MS,
  );
  let bytes = 0;
  const counted = function* (): Generator<string> {
    for (const piece of initBody(size, variant)) {
      bytes += piece.length;
      yield piece;
    }
  };
  const pid = deployment.replicas[0]?.pid ?? 0;
  const cpu = (): [number, number] => [cpuMs(pid), familyCpuMs(deployment.postgres.pid)];
  const [before, startedMs] = [cpu(), performance.now()];
  const { status } = await client.upload('POST', path, counted());
  const tookMs = performance.now() - startedMs;
  done = true;
  const [controlPlane, postgres] = cpu().map((ms, i) => seconds(ms - (before[i] ?? 0)));
  print(
    `POST ${path} ${title}: ${status} in ${seconds(tookMs)}, body ${(bytes / 1e6).toFixed(0)} MB, ` +
      `control plane at most ${residentMiB(pid, 'peak')} MiB; processor time: control plane ${controlPlane}, ` +
      `PostgreSQL ${postgres}; ${isDryRun ? 'changes' : 'reads'} meanwhile: ${summarise(await others)}`,
  );
}

/** A client of each kind of subscriber, and a name in a list of its profile and one in none. */
async function benchExplain({ replicas }: Deployment, client: ManagementClient): Promise<void> {
  const pid = replicas[0]?.pid ?? 0;
  const before = [residentMiB(pid, 'now'), cpuMs(pid)] as const;
  let asked = 0;
  const latencies = await measureLatencies(
    async () => {
      const i = (asked * 7919) % FULL_SIZE.networks;
      const profile = i % FULL_SIZE.profiles;
      const isListed = asked % 2 === 0;
      const domain = isListed ? `www.host-1.site-${profile}-0.example.com` : 'www.example.org';
      const address = ipv4(0x0a00_0000 + i * 4 + 1);
      await client.call('GET', `/explain/?client=${address}&domain=${domain}`);
    },
    () => asked++ < EXPLANATIONS,
  );
  const cpu = ((cpuMs(pid) - before[1]) / EXPLANATIONS).toFixed(1);
  print(
    `GET /explain/: ${summarise(latencies)}; processor time of the control plane ${cpu} ms each, ` +
      `${residentMiB(pid, 'now')} MiB after ${before[0]} MiB`,
  );
}

async function benchList({ managementPorts, secrets, replicas }: Deployment): Promise<void> {
  const startedMs = performance.now();
  const headers = { Authorization: `Bearer ${secrets.token}` };
  const response = await fetch(`http://127.0.0.1:${managementPorts[0]}/net/`, { headers });
  let firstByteMs = Number.NaN;
  let bytes = 0;
  for await (const chunk of response.body as AsyncIterable<Uint8Array>) {
    if (bytes === 0) firstByteMs = performance.now() - startedMs;
    bytes += chunk.length;
  }
  print(
    `GET /net/ of 1 M networks: first byte ${firstByteMs.toFixed(0)} ms, all ${(bytes / 1e6).toFixed(0)} MB ` +
      `in ${seconds(performance.now() - startedMs)}, ` +
      `control plane at most ${residentMiB(replicas[0]?.pid ?? 0, 'peak')} MiB`,
  );
}
