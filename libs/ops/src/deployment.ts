import { createHash } from 'node:crypto';
import {
  type Configuration,
  hexKeyList,
  optional,
  replacedBy,
  secretList,
  text,
} from './variables/index.js';
import { watchFile, type WatchedFilesLog } from './watched-files.js';

const SHORTEST_TOKEN = 16;
const TOKEN = /^\S{16,1000}$/;
const MAX_FILE_BYTES = 2 ** 16;
/** A new token is used after this time. */
const CHECK_MS = 2_000;

/** Variables that all processes of a deployment share: a part of their schemas. */
export const DEPLOYMENT_VARIABLES = {
  DEPLOYMENT_ID: optional(
    text('a name', {
      description:
        'Name of the deployment, the same in all its processes. The names in Redis derive from it. Unset: it derives ' +
        'from DOMAIN_HASH_KEY. Set it where deployments with one DOMAIN_HASH_KEY share a Redis.',
    }),
  ),
  FEED_TOKENS: replacedBy(
    'FEED_TOKENS_FILE',
    secretList(SHORTEST_TOKEN, {
      description:
        'Bearer tokens of the feed API, the same in all processes. The first is used, and signs the messages on ' +
        'Redis. All are accepted, so that a token can be replaced without an outage.',
    }),
  ),
  FEED_TOKENS_FILE: optional(
    text('a file', {
      description:
        'File with bearer tokens of the feed API, one in each line, in place of FEED_TOKENS. A changed file is used ' +
        'within two seconds, without a restart. A bad one is logged and changes nothing.',
    }),
  ),
} as const;

/** Variables that control planes and block pages share. */
export const INCIDENT_VARIABLES = {
  INCIDENT_KEYS: optional(
    hexKeyList(16, 2, {
      description:
        'Keys of the incident numbers on block pages, the same for control planes and block pages. The first one ' +
        'makes incident numbers, and all open them. To change the key, add the new one in second place, then move it ' +
        'to first place, and remove the old one a day later. Unset: pages have no incident number, and ' +
        'GET /explain/ takes none.',
    }),
  ),
} as const;

type DeploymentConfiguration = Configuration<typeof DEPLOYMENT_VARIABLES> & {
  readonly DOMAIN_HASH_KEY: string;
};

/** What a process knows of its deployment. */
export interface OpenDeployment {
  readonly id: string;
  /** The tokens at the moment, at least one. */
  readonly tokens: () => readonly string[];
  /** Number of checks at which FEED_TOKENS_FILE was not usable. */
  readonly tokenFileFaults: () => number;
  readonly close: () => void;
}

/** @throws StartError when the file is not usable. */
export function openDeployment(
  configuration: DeploymentConfiguration,
  log: WatchedFilesLog,
): OpenDeployment {
  const { FEED_TOKENS: fixed = [], FEED_TOKENS_FILE: path } = configuration;
  const tokens = watchFile<readonly string[]>({
    variable: 'FEED_TOKENS_FILE',
    path,
    fixed,
    maxBytes: MAX_FILE_BYTES,
    parse: parseTokens,
    content: 'the tokens of the feed API',
    log,
    checkMs: CHECK_MS,
  });
  return {
    id: deploymentId(configuration),
    tokens: () => tokens.value,
    tokenFileFaults: () => tokens.faults,
    close: () => tokens.close(),
  };
}

/** The key is a secret; its hash tells nothing about it. */
function deploymentId({ DEPLOYMENT_ID, DOMAIN_HASH_KEY }: DeploymentConfiguration): string {
  if (DEPLOYMENT_ID !== undefined) return DEPLOYMENT_ID;
  const text = `weir deployment ${DOMAIN_HASH_KEY.toLowerCase()}`;
  return createHash('sha256').update(text).digest('hex').slice(0, 32);
}

/** @throws Error that names the line, and does not show it. */
function parseTokens(text: string): string[] {
  const isToken = (line: string) => line !== '' && !line.startsWith('#');
  const lines = text.split('\n').map((line) => line.trim());
  const bad = lines.findIndex((line) => isToken(line) && !TOKEN.test(line));
  if (bad >= 0) {
    const rule = `a token has ${SHORTEST_TOKEN} to 1000 characters without spaces`;
    throw new Error(`line ${bad + 1}: ${rule}`);
  }
  const tokens = lines.filter(isToken);
  if (tokens.length === 0) throw new Error('it has no token');
  return tokens;
}
