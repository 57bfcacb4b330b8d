import { Type } from '@weir/dns-wire';
import { findSet, type Link, type LocalName, type LocalRewrite } from './local-name.js';
import type { NameOfFile } from './read-names.js';
import { faultAt } from './local-record.js';

/** More CNAME records one after another are rather a mistake, and a loop has no end. */
const MAX_LINKS = 8;

/**
 * Follows the CNAME record of each name that has one.
 * @param find the name with these records, or null
 * @throws Error for a loop, or when there are too many
 */
export function setRewrites(
  names: readonly NameOfFile[],
  find: (name: Uint8Array) => LocalName | null,
): void {
  for (const { line, name } of names) {
    const rewrite = follow(name, find);
    if (rewrite === TOO_LONG) {
      throw faultAt(line, `more than ${MAX_LINKS} CNAME records lead to each other`);
    }
    name.rewrite = rewrite;
  }
}

const TOO_LONG = Symbol('too long');

function follow(
  name: LocalName,
  find: (name: Uint8Array) => LocalName | null,
): LocalRewrite | null | typeof TOO_LONG {
  const links: Link[] = [];
  let rewrite: LocalRewrite | null = null;
  let owner: Uint8Array | null = null;
  let end: LocalName | null = name;
  while (end !== null) {
    const cname = findSet(end, Type.cname);
    if (cname === null) break;
    const [target] = cname.rdatas;
    links.push({ owner, ttlSeconds: cname.ttlSeconds, target });
    if (links.length > MAX_LINKS) return TOO_LONG;
    end = find(target);
    owner = target;
    rewrite = { links, target, end };
  }
  return rewrite;
}
