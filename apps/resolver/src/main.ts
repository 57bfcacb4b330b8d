import {
  createLogger,
  type Endpoint,
  runMain,
  showUpstream,
  StartError,
  stopOnSignal,
} from '@weir/ops';
import { readFile } from 'node:fs/promises';
import { setFlagsFromString } from 'node:v8';
import { type ResolverConfiguration, SCHEMA } from './configuration.js';
import { checkStart, startResolver } from './resolver.js';
import { readNameservers } from './upstream/resolv-conf.js';

const RESOLV_CONF = '/etc/resolv.conf';

const openLog = ({ LOG_LEVEL: level }: ResolverConfiguration) =>
  createLogger({ name: 'resolver', level });

runMain(
  {
    name: 'resolver',
    description:
      'Answers the DNS queries of subscribers: filters by their profiles and forwards the rest to upstream resolvers.',
    schema: SCHEMA,
    packageFile: new URL('../../../package.json', import.meta.url),
    argv: process.argv.slice(2),
    environment: process.env,
  },
  async (configuration) => {
    const log = openLog(configuration);
    const upstreams = configuration.UPSTREAMS ?? (await systemNameservers());
    // Else each thread keeps the garbage of its start, 60 MiB in all. HTTPS needs larger heaps afterwards.
    setFlagsFromString('--optimize-for-size');
    const starting = startResolver(configuration, upstreams, log);
    stopOnSignal(starting, { drainSeconds: configuration.DRAIN_S, log, waitsForStart: true });
    const resolver = await starting;
    const { dns, opsPort } = resolver;
    setFlagsFromString('--no-optimize-for-size');
    log.info({ dns, opsPort }, 'listening; waiting for the configuration');
    await Promise.race([resolver.ready, resolver.lost]);
    log.info({ dns, opsPort, upstreams: upstreams.map(showUpstream) }, 'ready');
    await resolver.lost;
  },
  async (configuration) => {
    const upstreams = configuration.UPSTREAMS ?? (await systemNameservers());
    checkStart(configuration, upstreams, openLog(configuration));
  },
);

async function systemNameservers(): Promise<readonly Endpoint[]> {
  const text = await readFile(RESOLV_CONF, 'utf8').catch((error: unknown) => {
    throw new StartError(`UPSTREAMS is unset and ${RESOLV_CONF} cannot be read: ${String(error)}`);
  });
  const upstreams = readNameservers(text);
  if (upstreams.length === 0) {
    throw new StartError(`UPSTREAMS is unset and ${RESOLV_CONF} names no name server`);
  }
  return upstreams;
}
