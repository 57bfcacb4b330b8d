import type { SnapshotPart } from '../protocol/protocol.js';

/** A part of a snapshot with its rows as lists, to be compared. */
export function plainPart(part: SnapshotPart): SnapshotPart {
  return part.type === 'rows' ? { ...part, rows: [...part.rows] } : part;
}
