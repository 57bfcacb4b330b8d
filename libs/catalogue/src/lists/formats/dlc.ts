import { basename } from 'node:path';
import { CatalogueError } from '../../catalogue-error.js';
import { bounded, type ByteStream } from '../list.js';
import { tarFiles } from '../tar-files.js';
import {
  asciiText,
  HASH,
  indexOfByte,
  type LineFormat,
  skipSpace,
  skipWord,
  trimEnd,
} from './line-format.js';

/** The text of each list of a folder `data` of domain-list-community, by the name of its file in lower case. */
export type DlcLists = ReadonlyMap<string, string>;

const COLON = 0x3a;
/** Kinds of rules that no name stands for. */
export const PATTERNS: ReadonlySet<string> = new Set(['keyword', 'regexp']);

/**
 * A rule of domain-list-community: `name`, `domain:name` or `full:name`, with attributes behind it; `#` begins a
 * comment. A name covers all below it, also that of `full:`. Rules `keyword:` and `regexp:` are skipped.
 */
export const DLC: LineFormat = {
  line(bytes, start, end, entries) {
    const from = skipSpace(bytes, start, end);
    const to = trimEnd(bytes, from, indexOfByte(bytes, HASH, from, end));
    if (to === from) return;
    const wordEnd = skipWord(bytes, from, to);
    const colon = indexOfByte(bytes, COLON, from, wordEnd);
    const kind = colon === wordEnd ? 'domain' : asciiText(bytes, from, colon).toLowerCase();
    if (PATTERNS.has(kind)) entries.skipped();
    else if (kind === 'include')
      entries.invalid('includes a list: name the whole folder or archive');
    else if (kind !== 'domain' && kind !== 'full') entries.invalid('is a rule of an unknown kind');
    else entries.name(bytes, colon === wordEnd ? from : colon + 1, wordEnd);
  },
};

/** Of the text of all lists: it is held while one of them is read. */
const MAX_BYTES = 64 * 1024 * 1024;

/** The lists of a tar archive with a folder `data`. @throws CatalogueError when it is too large or incomplete. */
export async function readDlcLists(archive: ByteStream): Promise<DlcLists> {
  const chunks: Uint8Array[] = [];
  const files: { readonly name: string; readonly first: number }[] = [];
  const begin = (path: string) => files.push({ name: basename(path), first: chunks.length });
  const texts = tarFiles(archive, /(?:^|\/)data\/[^/]+$/, begin);
  for await (const chunk of bounded(texts, MAX_BYTES)) chunks.push(chunk);
  return new Map(
    files.map(({ name, first }, i) => {
      const own = chunks.slice(first, files.at(i + 1)?.first);
      return [name.toLowerCase(), Buffer.concat(own).toString()];
    }),
  );
}

/**
 * The rules of one list and of those that it includes. @throws CatalogueError when there is no such list, or a circle.
 * @param selector its name, with attributes that a rule must have or must not have: `google@ads@-cn`.
 */
export function resolveDlc(lists: DlcLists, selector: string): string {
  const [name, ...attributes] = selector.split('@');
  const rules = rulesOf(withAffiliations(lists), name.toLowerCase(), [], new Map());
  return rules.filter((rule) => matches(rule, attributes)).join('\n');
}

/** A rule with `&other` is in the list `other` too. */
function withAffiliations(lists: DlcLists): DlcLists {
  const all = new Map(lists);
  for (const text of lists.values()) {
    if (!text.includes('&')) continue;
    for (const line of text.split('\n')) {
      const rule = ruleOf(line);
      for (const [, other] of rule.matchAll(/\s&(\S+)/g)) {
        const name = other.toLowerCase();
        all.set(name, `${all.get(name) ?? ''}\n${rule}`);
      }
    }
  }
  return all;
}

function ruleOf(line: string): string {
  return line.replace(/#.*/s, '').trim();
}

/** In lower case. */
function attributesOf(rule: string): string[] {
  return Array.from(rule.matchAll(/\s@(\S+)/g), ([, attribute]) => attribute.toLowerCase());
}

/** Each rule once. @param resolved the rules of lists that were read: many may include one, exponentially often. */
function rulesOf(
  lists: DlcLists,
  name: string,
  including: readonly string[],
  resolved: Map<string, readonly string[]>,
): readonly string[] {
  const known = resolved.get(name);
  if (known !== undefined) return known;
  const text = lists.get(name);
  if (text === undefined) {
    const by = including.length === 0 ? '' : `, which ${including.at(-1)} includes`;
    throw new CatalogueError(`has no list ${name}${by}`);
  }
  if (including.includes(name)) throw new CatalogueError(`has a list ${name} that includes itself`);
  const all = text.split('\n').flatMap((line) => {
    const rule = ruleOf(line);
    const [, included] = /^include:\s*(\S*)/i.exec(rule) ?? [];
    if (included === undefined) return rule === '' ? [] : [rule];
    const rules = rulesOf(lists, included.toLowerCase(), [...including, name], resolved);
    const attributes = attributesOf(rule);
    return rules.filter((one) => matches(one, attributes));
  });
  const rules = [...new Set(all)];
  resolved.set(name, rules);
  return rules;
}

/** Whether the rule has each of these attributes, and none that is written `-attribute`. */
function matches(rule: string, attributes: readonly string[]): boolean {
  const own = attributesOf(rule);
  return attributes.every((attribute) => {
    const wanted = attribute.toLowerCase();
    return wanted.startsWith('-') ? !own.includes(wanted.slice(1)) : own.includes(wanted);
  });
}
