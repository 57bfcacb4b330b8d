import type { EntityKind } from '@weir/config-model';
import { RowError } from '@weir/config-model';
import type { SnapshotPart } from './protocol.js';
import { SnapshotLineParser } from './snapshot-lines.js';

/** The lines of a snapshot: its parts, then the trailer with the row counts and the digest. */
export async function* writeSnapshot(parts: AsyncIterable<SnapshotPart>): AsyncGenerator<string> {
  const counts: Partial<Record<EntityKind, number>> = {};
  let digest = '';
  for await (const part of parts) {
    if (part.type === 'head') digest = part.digest;
    else counts[part.kind] = (counts[part.kind] ?? 0) + part.rows.length;
    yield `${JSON.stringify(part)}\n`;
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
  const parser = new SnapshotLineParser();
  for await (const line of lines) {
    if (whole) throw new RowError('a snapshot goes on behind its trailer');
    const part = parser.parse(line);
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
