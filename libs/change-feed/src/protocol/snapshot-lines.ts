import {
  decodeHead,
  ENTITY_KINDS,
  FlatRows,
  isEntityKind,
  RowError,
  RowsParser,
} from '@weir/config-model';
import { parseJson } from './message.js';
import type { SnapshotPart, SnapshotTrailer } from './protocol.js';

const CLOSING_BRACE = 0x7d;

/** What `JSON.stringify` writes before the rows of a line. */
const ROWS_PREFIXES = ENTITY_KINDS.map(
  (kind) => [kind, Buffer.from(`{"type":"rows","kind":"${kind}","rows":`)] as const,
);

/** Reads the lines of one snapshot. */
export class SnapshotLineParser {
  private readonly rows = new RowsParser();
  private readonly decoder = new TextDecoder('utf-8', { fatal: true });

  /** @throws RowError when the line is not part of a snapshot. The rows are not checked: the target does that. */
  parse(line: Uint8Array): SnapshotPart | SnapshotTrailer {
    return this.parseRows(line) ?? parseAnyLine(parseJson(this.decode(line)));
  }

  /** @returns null when it is another line, or one that is written in another way. */
  private parseRows(line: Uint8Array): SnapshotPart | null {
    const end = line.length - 1;
    if (line[end] !== CLOSING_BRACE) return null;
    for (const [kind, prefix] of ROWS_PREFIXES) {
      if (!startsWith(line, prefix)) continue;
      const rows = this.rows.parse(line, prefix.length, end);
      return rows && { type: 'rows', kind, rows };
    }
    return null;
  }

  private decode(line: Uint8Array): string {
    try {
      return this.decoder.decode(line);
    } catch (error) {
      throw new RowError('not UTF-8', { cause: error });
    }
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
