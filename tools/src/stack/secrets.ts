import { StartError } from '@weir/ops';
import { randomBytes } from 'node:crypto';
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { writeFileAtomically } from '../services/files.js';
import type { StackConfiguration } from './configuration.js';

/** What a secret looks like, and how one is made. */
const TOKEN = { form: /^\S{16,}$/, make: () => randomBytes(24).toString('hex') };
const KEY = { form: /^[0-9a-f]{32}$/i, make: () => randomBytes(16).toString('hex') };

/** Lists of secrets, each with the variable that takes its place. */
const LISTS = {
  managementTokens: { variable: 'MANAGEMENT_TOKENS', kind: TOKEN },
  feedTokens: { variable: 'FEED_TOKENS', kind: TOKEN },
  opsTokens: { variable: 'OPS_TOKENS', kind: TOKEN },
  /** 32 hex digits each, the same for all resolvers. */
  dnsCookieSecrets: { variable: 'DNS_COOKIE_SECRETS', kind: KEY },
  /** 32 hex digits each, the same for control plane and block page. */
  incidentKeys: { variable: 'INCIDENT_KEYS', kind: KEY },
} as const;
const NAMES = Object.keys(LISTS) as readonly (keyof typeof LISTS)[];

type Lists = Readonly<Record<keyof typeof LISTS, readonly string[]>>;

export interface StackSecrets extends Lists {
  /** 32 hex digits. With another key the stored domain rules match nothing, so the key is kept with the data. */
  readonly domainHashKey: string;
}

const eachList = (listOf: (name: keyof typeof LISTS) => readonly string[]): Lists =>
  Object.fromEntries(NAMES.map((name) => [name, listOf(name)])) as unknown as Lists;

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
    ...eachList((name) => configuration[LISTS[name].variable] ?? kept[name]),
    domainHashKey: configuration.DOMAIN_HASH_KEY ?? kept.domainHashKey,
  };
}

function readOrCreateSecrets(file: string, isCheck: boolean): StackSecrets {
  const made = { ...eachList((name) => [LISTS[name].kind.make()]), domainHashKey: KEY.make() };
  // The key is not made again: it belongs to the data.
  const secrets = existsSync(file) ? { ...made, domainHashKey: null, ...parse(file) } : made;
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

function parse(file: string): object | null {
  try {
    return JSON.parse(readFileSync(file, 'utf8')) as object | null;
  } catch (error) {
    if (error instanceof SyntaxError) return null;
    throw new StartError(`${file} cannot be read: ${(error as Error).message}`, { cause: error });
  }
}

function isSecrets(secrets: Record<keyof StackSecrets, unknown>): secrets is StackSecrets {
  const isText = (item: unknown, { form }: typeof TOKEN) =>
    typeof item === 'string' && form.test(item);
  const areLists = NAMES.every((name) => {
    const list = secrets[name];
    const { kind } = LISTS[name];
    return Array.isArray(list) && list.length > 0 && list.every((item) => isText(item, kind));
  });
  return areLists && isText(secrets.domainHashKey, KEY);
}
