import { isMap, isScalar, type Pair, parseDocument, type YAMLMap } from 'yaml';

/** A value that can be set, with the comment above it in values.yaml. */
export interface DocumentedValue {
  /** Such as `resolver.service.type`. */
  readonly key: string;
  readonly default: unknown;
  readonly description: string;
}

/**
 * The values in order of the file. A comment above a key describes it with all that is in it; a key without one holds
 * keys that have theirs.
 * @throws Error that names a value without a comment.
 */
export function documentedValues(yaml: string): readonly DocumentedValue[] {
  const { contents } = parseDocument(yaml);
  if (!isMap(contents)) throw new Error('values.yaml is no map');
  return valuesIn(contents, '');
}

function valuesIn(map: YAMLMap, prefix: string): DocumentedValue[] {
  return map.items.flatMap((pair, i) => {
    if (!isScalar(pair.key)) throw new Error(`a key below ${prefix} is no text`);
    const key = `${prefix}${String(pair.key.value)}`;
    const description = commentAbove(map, pair, i);
    if (description !== null) return [{ key, default: plain(pair.value), description }];
    if (!isMap(pair.value)) throw new Error(`${key} has no comment in values.yaml`);
    return valuesIn(pair.value, `${key}.`);
  });
}

/** The parser gives the comment above the first key to the map. That above the whole file is no value's. */
function commentAbove(map: YAMLMap, pair: Pair, i: number): string | null {
  const own = isScalar(pair.key) ? pair.key.commentBefore : null;
  const comment = own ?? (i === 0 ? map.commentBefore : null);
  const ofValue = comment?.split(/\n\s*\n/).at(-1);
  return ofValue?.replaceAll(/\s+/g, ' ').trim() ?? null;
}

function plain(node: unknown): unknown {
  return (node as { toJSON?: () => unknown } | null)?.toJSON?.() ?? null;
}

/** The values as a Markdown table. */
export function valuesTable(yaml: string): string {
  const rows = documentedValues(yaml).map(
    ({ key, default: value, description }) =>
      `| \`${key}\` | ${cell(description)} | \`${cell(JSON.stringify(value))}\` |\n`,
  );
  return `| Value | Meaning | Default |\n| --- | --- | --- |\n${rows.join('')}`;
}

function cell(text: string): string {
  return text.replaceAll('|', String.raw`\|`);
}
