import type { Deployment } from '../deployment/deployment.js';
import type { ManagementClient } from '../deployment/management-client.js';
import { list, name, optionsOrExit, print, value } from '../command.js';
import { residentMiB } from '../services/usage.js';
import { withDeployment } from './deployment.js';
import { measureLatencies, shareOf, summarise } from './figures.js';
import { FULL_SIZE, initBody, ipv4 } from './init-body.js';

/** The pause between two other calls beside a large body. */
const PAUSE_MS = 5;
const EXPLANATIONS = shareOf(2000);
const PARTS = ['empty', 'dry-run', 'replace', 'explain'] as const;

const HELP = `npm run bench:api -- [--parts NAMES]

Measures the management API with the configuration of a large provider: 1 M networks, 10 k profiles of 20 categories and
5 applications, 1 M domains, 100 k port ranges. It starts PostgreSQL, Redis and a control plane, as the local stack does.
parts: ${PARTS.join(', ')}; all of them if not given. Names are separated by commas
  empty: POST /init/ into an empty database, which each of the others needs and begins with
  dry-run: POST /init/?dry_run=true of the same, and of other networks and domains
  replace: POST /init/ of the same again, and of another one
  explain: GET /explain/ of one client after the other`;

const { parts } = optionsOrExit(HELP, { parts: value(list(name(PARTS)), PARTS) });

const seconds = (ms: number): string => `${(ms / 1000).toFixed(1)} s`;
const OTHERS = 'with other networks and domains';

await withDeployment({}, async (deployment, client) => {
  const init = (title: string, variant = 0, isDryRun = false) =>
    benchInit(deployment, client, title, variant, isDryRun);
  await init('on an empty database');
  if (parts.includes('dry-run')) {
    await init('of the same', 0, true);
    await init(OTHERS, 1, true);
  }
  if (parts.includes('explain')) await benchExplain(client);
  if (parts.includes('replace')) {
    await init('again, the same');
    await init(OTHERS, 1);
  }
});

async function benchInit(
  { replicas }: Deployment,
  client: ManagementClient,
  title: string,
  variant: number,
  isDryRun: boolean,
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
  const counted = Iterator.from(initBody(FULL_SIZE, variant)).map((piece) => {
    bytes += piece.length;
    return piece;
  });
  const startedMs = performance.now();
  const { status } = await client.upload('POST', path, counted);
  const tookMs = performance.now() - startedMs;
  done = true;
  print(
    `POST ${path} ${title}: ${status} in ${seconds(tookMs)}, body ${(bytes / 1e6).toFixed(0)} MB, ` +
      `control plane at most ${residentMiB(replicas[0].pid, 'peak')} MiB; ` +
      `${isDryRun ? 'changes' : 'reads'} meanwhile: ${summarise(await others)}`,
  );
}

/** A client of each kind of subscriber, and a name in a list of its profile and one in none. */
async function benchExplain(client: ManagementClient): Promise<void> {
  const latencies = await measureLatencies(
    async (n) => {
      const i = (n * 7919) % FULL_SIZE.networks;
      const profile = i % FULL_SIZE.profiles;
      const isListed = n % 2 === 0;
      const domain = isListed ? `www.host-1.site-${profile}-0.example.com` : 'www.example.org';
      const address = ipv4(0x0a00_0000 + i * 4 + 1);
      await client.call('GET', `/explain/?client=${address}&domain=${domain}`);
    },
    (n) => n < EXPLANATIONS,
  );
  print(`GET /explain/: ${summarise(latencies)}`);
}
