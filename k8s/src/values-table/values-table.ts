import { isMap, isScalar, type Pair, parseDocument, type YAMLMap } from 'yaml';

/** A value that can be set, with the comment above it in values.yaml. */
export interface DocumentedValue {
  /** Such as `resolver.service.type`. */
  readonly key: string;
  readonly default: unknown;
  readonly description: string;
}

/**
 * The values in the order of the file. A comment above a key describes the key and everything in it. In a key without a
 * comment, each inner key must have one.
 * @throws Error that names a value without a comment.
 */
export function documentedValues(yaml: string): readonly DocumentedValue[] {
  const { contents } = parseDocument(yaml);
  if (!isMap(contents)) throw new Error('values.yaml is not a map');
  return valuesIn(contents, '');
}

function valuesIn(map: YAMLMap, prefix: string): DocumentedValue[] {
  return map.items.flatMap((pair, i) => {
    if (!isScalar(pair.key)) throw new Error(`a key below ${prefix} is not a string`);
    const key = `${prefix}${String(pair.key.value)}`;
    const description = commentAbove(map, pair, i);
    if (description !== null) return [{ key, default: plain(pair.value), description }];
    if (!isMap(pair.value)) throw new Error(`${key} has no comment in values.yaml`);
    return valuesIn(pair.value, `${key}.`);
  });
}

/** The parser attaches the comment above the first key to the map. The comment of the whole file describes no value. */
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
