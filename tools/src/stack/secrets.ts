import { StartError } from '@weir/ops';
import { randomBytes } from 'node:crypto';
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { writeFileAtomically } from '../services/files.js';
import type { StackConfiguration } from './configuration.js';

export interface StackSecrets {
  readonly managementTokens: readonly string[];
  readonly feedToken: string;
  /** 32 hex digits. With another key the stored domain rules match nothing, so the key is kept with the data. */
  readonly domainHashKey: string;
}

/** The secrets from the environment. Missing ones come from `DATA_DIR`, where the first start generates them. */
export function readSecrets(configuration: StackConfiguration, dataDir: string): StackSecrets {
  const kept = readOrCreateSecrets(join(dataDir, 'secrets.json'));
  return {
    managementTokens: configuration.MANAGEMENT_TOKENS ?? kept.managementTokens,
    feedToken: configuration.FEED_TOKEN ?? kept.feedToken,
    domainHashKey: configuration.DOMAIN_HASH_KEY ?? kept.domainHashKey,
  };
}

function readOrCreateSecrets(file: string): StackSecrets {
  if (!existsSync(file)) {
    const made: StackSecrets = {
      managementTokens: [randomBytes(24).toString('hex')],
      feedToken: randomBytes(24).toString('hex'),
      domainHashKey: randomBytes(16).toString('hex'),
    };
    writeFileAtomically(file, JSON.stringify(made, null, 2));
    return made;
  }
  const kept = parse(file);
  if (!isSecrets(kept)) {
    throw new StartError(
      `${file} is not what the stack wrote there. Put back a copy; where there is none, remove the whole folder: without its domainHashKey the domain rules in the database match nothing`,
    );
  }
  return kept;
}

function parse(file: string): unknown {
  try {
    return JSON.parse(readFileSync(file, 'utf8'));
  } catch (error) {
    if (error instanceof SyntaxError) return null;
    throw new StartError(`${file} cannot be read: ${(error as Error).message}`, { cause: error });
  }
}

function isSecrets(value: unknown): value is StackSecrets {
  if (typeof value !== 'object' || value === null) return false;
  const { managementTokens, feedToken, domainHashKey } = value as Partial<Record<string, unknown>>;
  const isToken = (token: unknown): boolean => typeof token === 'string' && /^\S{16,}$/.test(token);
  return (
    Array.isArray(managementTokens) &&
    managementTokens.length > 0 &&
    managementTokens.every(isToken) &&
    isToken(feedToken) &&
    typeof domainHashKey === 'string' &&
    /^[0-9a-f]{32}$/i.test(domainHashKey)
  );
}
