import type { Deployment } from '../deployment/deployment.js';
import type { ManagementClient } from '../deployment/management-client.js';
import { integer, list, name, optionsOrExit, print, value } from '../command.js';
import { residentMiB } from '../services/usage.js';
import { withDeployment } from './deployment.js';
import { measureLatencies, shareOf, summarise } from './figures.js';
import { FULL_SIZE, initBody, ipv4 } from './init-body.js';

/** The pause between two other calls beside a large body. */
const PAUSE_MS = 5;
const EXPLANATIONS = shareOf(2000);
/** One of this many networks gets another profile. */
const CHANGED_EACH = 1_000;
/** A call waits so long for resolvers, which load a snapshot. */
const VARIABLES = { LOG_LEVEL: 'warn', INIT_PROPAGATION_TIMEOUT_MS: '60000' };
const PARTS = ['empty', 'dry-run', 'replace', 'explain'] as const;

const HELP = `npm run bench:api -- [--parts NAMES] [--resolvers 0]

Measures the management API with the configuration of a large provider: 1 M networks, 10 k profiles of 20 categories and
5 applications, 1 M domains, 100 k port ranges. It starts PostgreSQL, Redis and a control plane, as the local stack does.
resolvers: with some, the time of a POST /init/ is that until the configuration is in force on all of them
parts: ${PARTS.join(', ')}; all of them if not given. Names are separated by commas
  empty: POST /init/ into an empty database, which each of the others needs and begins with
  dry-run: POST /init/?dry_run=true of the same, and of other networks and domains
  replace: POST /init/ of the same again, with 0.1 % of its networks changed, and of another one
  explain: GET /explain/ of one client after the other`;

const { parts, resolvers } = optionsOrExit(HELP, {
  parts: value(list(name(PARTS)), PARTS),
  resolvers: value(integer(0, 10), 0),
});

const seconds = (ms: number): string => `${(ms / 1000).toFixed(1)} s`;
const OTHERS = 'with other networks and domains';

/** What is sent, see `initBody`, and whether it is only tried. */
interface Init {
  readonly variant?: number;
  readonly changedEach?: number;
  readonly isDryRun?: boolean;
}

await withDeployment({ resolvers, variables: VARIABLES }, async (deployment, client) => {
  const init = (title: string, what: Init = {}) => benchInit(deployment, client, title, what);
  await init('on an empty database');
  if (parts.includes('dry-run')) {
    await init('of the same', { isDryRun: true });
    await init(OTHERS, { variant: 1, isDryRun: true });
  }
  if (parts.includes('explain')) await benchExplain(client);
  if (parts.includes('replace')) {
    await init('again, the same');
    await init('with 0.1 % of the networks changed', { changedEach: CHANGED_EACH });
    await init(OTHERS, { variant: 1 });
  }
});

async function benchInit(
  { replicas }: Deployment,
  client: ManagementClient,
  title: string,
  { variant = 0, changedEach, isDryRun = false }: Init,
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
  const counted = Iterator.from(initBody(FULL_SIZE, variant, changedEach)).map((piece) => {
    bytes += piece.length;
    return piece;
  });
  const startedMs = performance.now();
  const { status, applied, total } = await client.upload('POST', path, counted);
  const tookMs = performance.now() - startedMs;
  done = true;
  const place = isDryRun ? '' : `, in force on ${applied}/${total} resolvers`;
  print(
    `POST ${path} ${title}: ${status} in ${seconds(tookMs)}${place}, body ${(bytes / 1e6).toFixed(0)} MB, ` +
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
