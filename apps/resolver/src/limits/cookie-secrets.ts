import { type HashKey, parseHashKey } from '@weir/dns-name';
import { randomBytes } from 'node:crypto';

/** The keys of `ServerCookies`. Without any given, a random one: cookies then hold until the process ends. */
export function cookieSecrets(given: readonly string[] | undefined): HashKey[] {
  const secrets = given ?? [randomBytes(16).toString('hex')];
  return secrets.map(parseHashKey);
}
