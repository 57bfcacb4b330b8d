import { StartError } from '@weir/ops';
import { randomBytes } from 'node:crypto';
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { writeFileAtomically } from '../services/files.js';
import type { StackConfiguration } from './configuration.js';

export interface StackSecrets {
  readonly managementTokens: readonly string[];
  readonly feedTokens: readonly string[];
  readonly opsTokens: readonly string[];
  /** 32 hex digits each, the same for all resolvers. */
  readonly dnsCookieSecrets: readonly string[];
  /** 32 hex digits each, the same for control plane and block page. */
  readonly incidentKeys: readonly string[];
  /** 32 hex digits. With another key the stored domain rules match nothing, so the key is kept with the data. */
  readonly domainHashKey: string;
}

/**
 * The secrets from the environment. Missing ones come from `DATA_DIR`.
 * @param isCheck whether to write nothing
 */
export function readSecrets(
  configuration: StackConfiguration,
  dataDir: string,
  isCheck = false,
): StackSecrets {
  const kept = readOrCreateSecrets(join(dataDir, 'secrets.json'), isCheck);
  return {
    managementTokens: configuration.MANAGEMENT_TOKENS ?? kept.managementTokens,
    feedTokens: configuration.FEED_TOKENS ?? kept.feedTokens,
    opsTokens: configuration.OPS_TOKENS ?? kept.opsTokens,
    dnsCookieSecrets: configuration.DNS_COOKIE_SECRETS ?? kept.dnsCookieSecrets,
    incidentKeys: configuration.INCIDENT_KEYS ?? kept.incidentKeys,
    domainHashKey: configuration.DOMAIN_HASH_KEY ?? kept.domainHashKey,
  };
}

function readOrCreateSecrets(file: string, isCheck: boolean): StackSecrets {
  const kept = existsSync(file) ? parse(file) : makeSecrets();
  // The key is not made again: it belongs to the data.
  const secrets = { ...makeSecrets(), domainHashKey: null, ...kept };
  if (!isSecrets(secrets)) {
    throw new StartError(
      `${file} is not what the stack wrote there. Put back a copy; where there is none, remove the whole folder: without its domainHashKey the domain rules in the database match nothing`,
    );
  }
  if (isCheck) return secrets;
  const text = JSON.stringify(secrets, null, 2);
  if (!existsSync(file) || readFileSync(file, 'utf8') !== text) writeFileAtomically(file, text);
  return secrets;
}

function makeSecrets(): StackSecrets {
  const token = () => randomBytes(24).toString('hex');
  const key = () => randomBytes(16).toString('hex');
  return {
    managementTokens: [token()],
    feedTokens: [token()],
    opsTokens: [token()],
    dnsCookieSecrets: [key()],
    incidentKeys: [key()],
    domainHashKey: key(),
  };
}

function parse(file: string): object | null {
  try {
    return JSON.parse(readFileSync(file, 'utf8')) as object | null;
  } catch (error) {
    if (error instanceof SyntaxError) return null;
    throw new StartError(`${file} cannot be read: ${(error as Error).message}`, { cause: error });
  }
}

const TOKEN = /^\S{16,}$/;
const KEY = /^[0-9a-f]{32}$/i;
const LISTS = {
  ...{ managementTokens: TOKEN, feedTokens: TOKEN, opsTokens: TOKEN },
  ...{ dnsCookieSecrets: KEY, incidentKeys: KEY },
};

function isSecrets(secrets: Record<keyof StackSecrets, unknown>): secrets is StackSecrets {
  const isText = (item: unknown, form: RegExp) => typeof item === 'string' && form.test(item);
  const areLists = Object.entries(LISTS).every(([name, form]) => {
    const list = secrets[name as keyof typeof LISTS];
    return Array.isArray(list) && list.length > 0 && list.every((item) => isText(item, form));
  });
  return areLists && isText(secrets.domainHashKey, KEY);
}
