import {
  type EntityKind,
  RowError,
  decodeHead,
  ENTITY_KINDS,
  FlatRows,
  type Head,
  isEntityKind,
  RowsParser,
} from '@weir/config-model';
import { parseJson, type SnapshotPart, type SnapshotTrailer } from './protocol.js';

/** Longest line of a snapshot in bytes. Only a line with a single row can be longer than `FULL_LINE_CHARACTERS`. */
const MAX_LINE_BYTES = 64 * 1024 * 1024;
/** Longest line with several rows that is written. */
const FULL_LINE_CHARACTERS = 1024 * 1024;
const LINE_FEED = 0x0a;

/** The lines, without line feeds. @throws RowError when a line is too long, or the last one has no line feed. */
export async function* readLines(chunks: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array> {
  /** The beginning of a line that goes on in the next chunk. */
  let pieces: Uint8Array[] = [];
  let pieceBytes = 0;
  for await (const chunk of chunks) {
    let start = 0;
    for (let end = chunk.indexOf(LINE_FEED); end >= 0; end = chunk.indexOf(LINE_FEED, start)) {
      const line = chunk.subarray(start, end);
      yield pieces.length === 0 ? line : Buffer.concat([...pieces, line]);
      pieces = [];
      pieceBytes = 0;
      start = end + 1;
    }
    const rest = chunk.subarray(start);
    pieceBytes += rest.length;
    if (pieceBytes > MAX_LINE_BYTES) throw new RowError('a line is too long');
    if (rest.length > 0) pieces.push(rest);
  }
  if (pieceBytes > 0) throw new RowError('a text that ends within a line');
}

const CLOSING_BRACE = 0x7d;

/** What `JSON.stringify` writes before the rows of a line. */
const ROWS_PREFIXES = ENTITY_KINDS.map(
  (kind) => [kind, Buffer.from(`{"type":"rows","kind":"${kind}","rows":`)] as const,
);

const UTF8 = new TextDecoder('utf-8', { fatal: true });

/** @throws RowError when the line is not part of a snapshot. The rows are not checked: the target does that. */
function parseLine(line: Uint8Array, parser: RowsParser): SnapshotPart | SnapshotTrailer {
  return parseRows(line, parser) ?? parseAnyLine(parseJson(decode(line)));
}

/** @returns null when it is another line, or one that is written in another way. */
function parseRows(line: Uint8Array, parser: RowsParser): SnapshotPart | null {
  const end = line.length - 1;
  if (line[end] !== CLOSING_BRACE) return null;
  for (const [kind, prefix] of ROWS_PREFIXES) {
    if (!startsWith(line, prefix)) continue;
    const rows = parser.parse(line, prefix.length, end);
    return rows && { type: 'rows', kind, rows };
  }
  return null;
}

function decode(line: Uint8Array): string {
  try {
    return UTF8.decode(line);
  } catch (error) {
    throw new RowError('not UTF-8', { cause: error });
  }
}

function startsWith(line: Uint8Array, prefix: Uint8Array): boolean {
  return line.length > prefix.length && prefix.every((byte, i) => line[i] === byte);
}

function parseAnyLine(json: unknown): SnapshotPart | SnapshotTrailer {
  const value = json as Record<string, unknown> | null;
  switch (value?.['type']) {
    case 'head':
      return { type: 'head', ...decodeHead(value) };
    case 'rows': {
      const { kind, rows } = value;
      if (!isEntityKind(kind) || !Array.isArray(rows)) throw new RowError('rows have a kind');
      return { type: 'rows', kind, rows: FlatRows.of(rows as unknown[]) };
    }
    case 'end': {
      const { counts, digest } = value;
      if (typeof counts !== 'object' || counts === null || typeof digest !== 'string') {
        throw new RowError('a trailer has counts and a digest');
      }
      return { type: 'end', counts, digest };
    }
    default:
      throw new RowError('unknown line in a snapshot');
  }
}

/** The lines of a part. Its rows may be long: those of a thousand profiles can have many megabytes. */
function* linesOf(part: SnapshotPart): Generator<string> {
  if (part.type === 'head') {
    yield `${JSON.stringify(part)}\n`;
    return;
  }
  const { type, kind } = part;
  const line = (rows: string[]): string =>
    `{"type":"${type}","kind":"${kind}","rows":[${rows.join(',')}]}\n`;
  let rows: string[] = [];
  let length = 0;
  for (const row of part.rows) {
    const text = JSON.stringify(row);
    length += text.length;
    if (length > FULL_LINE_CHARACTERS && rows.length > 0) {
      yield line(rows);
      rows = [];
      length = text.length;
    }
    rows.push(text);
  }
  if (rows.length > 0) yield line(rows);
}

/** The lines of a snapshot: its parts, then the trailer with the row counts and the digest. */
export async function* writeSnapshot(parts: AsyncIterable<SnapshotPart>): AsyncGenerator<string> {
  const counts: Partial<Record<EntityKind, number>> = {};
  let digest = '';
  for await (const part of parts) {
    if (part.type === 'head') digest = part.digest;
    else counts[part.kind] = (counts[part.kind] ?? 0) + part.rows.length;
    yield* linesOf(part);
  }
  yield `${JSON.stringify({ type: 'end', counts, digest })}\n`;
}

/**
 * The parts of a snapshot from its lines. Verified: the head is first, the trailer is last, the row counts are right.
 * @throws RowError when a line is not readable or the snapshot is incomplete. Discard what was yielded before.
 */
export async function* readSnapshot(
  lines: AsyncIterable<Uint8Array>,
): AsyncGenerator<SnapshotPart> {
  const counts: Partial<Record<EntityKind, number>> = {};
  let digest: string | null = null;
  let whole = false;
  const parser = new RowsParser();
  for await (const line of lines) {
    if (whole) throw new RowError('a snapshot goes on behind its trailer');
    const part = parseLine(line, parser);
    if ((part.type === 'head') !== (digest === null))
      throw new RowError('a snapshot begins with its head');
    if (part.type === 'end') {
      if (part.digest !== digest) throw new RowError('a snapshot with two digests');
      verifyCounts(counts, part.counts);
      whole = true;
      continue;
    }
    if (part.type === 'head') digest = part.digest;
    else counts[part.kind] = (counts[part.kind] ?? 0) + part.rows.length;
    yield part;
  }
  if (!whole) throw new RowError('a snapshot without its trailer');
}

function verifyCounts(
  read: Partial<Record<EntityKind, number>>,
  sent: Partial<Record<EntityKind, number>>,
): void {
  for (const kind of new Set([...Object.keys(read), ...Object.keys(sent)]) as Set<EntityKind>) {
    if ((read[kind] ?? 0) !== (sent[kind] ?? 0)) {
      throw new RowError(
        `a snapshot with ${read[kind] ?? 0} ${kind} rows instead of ${sent[kind] ?? 0}`,
      );
    }
  }
}

/** The parts of a snapshot, to be read once, with its head. */
export class PartsWithHead implements AsyncIterable<SnapshotPart> {
  /** Null until it has been read. */
  head: Head | null = null;

  constructor(private readonly parts: AsyncIterable<SnapshotPart>) {}

  async *[Symbol.asyncIterator](): AsyncGenerator<SnapshotPart> {
    for await (const part of this.parts) {
      if (part.type === 'head') {
        const { lineage, revision, digest } = part;
        this.head = { lineage, revision, digest };
      }
      yield part;
    }
  }
}
