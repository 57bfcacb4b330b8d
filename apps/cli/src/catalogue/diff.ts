import {
  compareImages,
  type Definition,
  type GroupDifference,
  type ImageBytes,
  type NameChanges,
  type NameHash,
  sourcesOf,
  visitNames,
} from '@weir/catalogue';
import { type HashKey, SuffixHashes, toWireName } from '@weir/dns-name';
import type { Context } from '../context.js';
import { grouped, textOf } from '../terminal.js';
import { withSource } from './read-source.js';

/** Names of each group, added or removed, that are printed. */
const MAX_NAMES = 10;

export interface Compared {
  readonly before: ImageBytes;
  readonly after: ImageBytes;
  /** Whose inline domains and lists tell the names: images have hashes only. */
  readonly definitions: readonly Definition[];
  /** Of both images. */
  readonly key: HashKey;
  readonly json: true | undefined;
}

/** Prints which names each category and application has gained and lost. */
export async function diff(compared: Compared, context: Context): Promise<void> {
  const { terminal } = context;
  const differences = await compareImages(compared.before, compared.after, MAX_NAMES);
  const sampled = differences.flatMap(({ added, removed }) => [...added.names, ...removed.names]);
  const names = await namesOf(sampled, compared, context);
  const rows = differences.map((one) => toJson(one, names));
  if (compared.json) return terminal.print(JSON.stringify(rows));
  if (rows.length === 0) terminal.print('the same names in the same categories and applications');
  for (const one of rows) {
    const group = one.cat_id === null ? `application ${one.app_id}` : `category ${one.cat_id}`;
    const state = one.state === 'changed' ? '' : ` (${one.state})`;
    const counts = `+${grouped(one.added)} -${grouped(one.removed)}`;
    terminal.print(`${group}, ${textOf(one.name)}${state}: ${counts}`);
    for (const name of one.added_names) terminal.print(terminal.style('green', `  + ${name}`));
    for (const name of one.removed_names) terminal.print(terminal.style('red', `  - ${name}`));
  }
}

function toJson(
  { kind, id, before, after, added, removed }: GroupDifference,
  names: ReadonlyMap<string, string>,
) {
  // The names of a secret category are not printed.
  const isSecret = before?.secret === true || after?.secret === true;
  const known = (changes: NameChanges): string[] =>
    isSecret ? [] : changes.names.flatMap((hash) => names.get(hash.join()) ?? []).sort();
  return {
    cat_id: kind === 'categories' ? id : null,
    app_id: kind === 'applications' ? id : null,
    name: after?.name ?? before?.name ?? null,
    state: before === null ? 'new' : after === null ? 'gone' : 'changed',
    ...{ added: added.count, removed: removed.count },
    ...{ added_names: known(added), removed_names: known(removed) },
  };
}

/** The names of hashes, as far as the definitions have them. */
async function namesOf(
  wanted: readonly NameHash[],
  { definitions, key }: Compared,
  context: Context,
): Promise<ReadonlyMap<string, string>> {
  const missing = new Set(wanted.map(([low]) => low));
  const names = new Map<string, string>();
  const take = ({ low, high, count }: SuffixHashes, domain: () => string): void => {
    const last = count - 1;
    if (missing.has(low[last])) names.set([low[last], high[last]].join(), domain());
  };
  const hashes = new SuffixHashes(key);
  for (const { categories, applications } of missing.size === 0 ? [] : definitions) {
    for (const domain of [...categories, ...applications].flatMap(({ domains }) => domains)) {
      hashes.compute(toWireName(domain), 0);
      take(hashes, () => domain);
    }
  }
  for (const source of missing.size === 0 ? [] : definitions.flatMap(sourcesOf)) {
    const { format, sha256, list } = source;
    await withSource(source, context, (body) => {
      const visit = (of: SuffixHashes, _line: number, name: { domain: () => string }): void => {
        take(of, () => name.domain());
      };
      return visitNames(body, format, key, visit, { sha256, list });
    });
  }
  return names;
}
