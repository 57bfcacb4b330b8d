import { createHash } from 'node:crypto';
import { closeSync, fdatasyncSync, openSync, readSync, rmSync, writeSync } from 'node:fs';
import { constants, setPriority } from 'node:os';
import { parentPort, workerData } from 'node:worker_threads';
import { crc32 } from 'node:zlib';

// The program of a thread that merges a snapshot file and its journal. It runs as it is, also from the sources, so it
// imports nothing but Node, and has no TypeScript that needs code of its own.

export interface MergeOrder {
  readonly snapshot: string;
  readonly journal: string;
  /** As much of the journal is merged. It ends with a whole line. */
  readonly journalBytes: number;
  /** The file to write. */
  readonly merged: string;
  readonly kinds: readonly { readonly name: string; readonly keyLength: number }[];
}

/** What was merged; or why nothing was, and no file is left. */
export type MergeReply =
  | { readonly revision: number }
  /** `isUnusable`: the files that were to be merged cannot be started from either. */
  | { readonly error: string; readonly isUnusable: boolean };

/** The snapshot or its journal is damaged. */
class UnusableError extends Error {}

type Row = readonly unknown[];
/** By kind, then by key: the row after the last change; null: it was deleted. */
type Latest = Map<string, Map<string, Row | null>>;

const CHUNK_BYTES = 1024 * 1024;
const FLUSH_BYTES = 8 * CHUNK_BYTES;
const ROWS_PER_LINE = 1_000;
const NEWLINE = 0x0a;
/** As `SnapshotFileWriter` writes it. */
const ROWS_LINE = /^\{"type":"rows","kind":"(\w+)",/;

function* readLines(path: string, endBytes = Infinity): Generator<string> {
  const file = openSync(path, 'r');
  try {
    const chunk = Buffer.allocUnsafe(CHUNK_BYTES);
    let pieces: Buffer[] = [];
    for (let left = endBytes; left > 0;) {
      const length = readSync(file, chunk, 0, Math.min(left, chunk.length), null);
      if (length === 0) break;
      left -= length;
      let start = 0;
      for (let end = chunk.indexOf(NEWLINE); end >= 0 && end < length;) {
        pieces.push(chunk.subarray(start, end));
        yield Buffer.concat(pieces).toString('utf8');
        pieces = [];
        start = end + 1;
        end = chunk.indexOf(NEWLINE, start);
      }
      pieces.push(Buffer.from(chunk.subarray(start, length)));
    }
    if (pieces.some((piece) => piece.length > 0))
      throw new UnusableError(`${path} ends within a line`);
  } finally {
    closeSync(file);
  }
}

/** The lines between the format line and the checksum, which is verified. The format line is the first one. */
function* readSnapshotLines(path: string): Generator<string> {
  const hash = createHash('sha256');
  let held: string | null = null;
  for (const line of readLines(path)) {
    if (held !== null) {
      hash.update(`${held}\n`);
      yield held;
    }
    held = line;
  }
  if (held !== hash.digest('hex'))
    throw new UnusableError('the snapshot does not have its checksum');
}

class MergedFile {
  private readonly path: string;
  private readonly file: number;
  private readonly hash = createHash('sha256');
  private waiting: string[] = [];
  private waitingLength = 0;
  private unflushed = 0;

  constructor(path: string) {
    this.path = path;
    this.file = openSync(path, 'w', 0o600);
  }

  line(text: string): void {
    this.hash.update(`${text}\n`);
    this.waiting.push(text, '\n');
    this.waitingLength += text.length;
    if (this.waitingLength >= CHUNK_BYTES) this.write();
  }

  finish(): void {
    const checksum = this.hash.digest('hex');
    this.waiting.push(checksum, '\n');
    this.write();
    fdatasyncSync(this.file);
    closeSync(this.file);
  }

  abandon(): void {
    closeSync(this.file);
    rmSync(this.path, { force: true });
  }

  private write(): void {
    const bytes = Buffer.from(this.waiting.join(''));
    this.waiting = [];
    this.waitingLength = 0;
    for (let at = 0; at < bytes.length;) at += writeSync(this.file, bytes, at);
    this.unflushed += bytes.length;
    if (this.unflushed < FLUSH_BYTES) return;
    this.unflushed = 0;
    fdatasyncSync(this.file);
  }
}

interface JournalChange {
  readonly revision: number;
  readonly digest: string;
  readonly operations: readonly (readonly [string, string, Row])[];
}

class Merge {
  private readonly order: MergeOrder;
  private readonly out: MergedFile;
  private readonly latest: Latest = new Map();
  private readonly counts: Record<string, number> = {};
  private readonly keyLengths: ReadonlyMap<string, number>;
  private head = { revision: -1, digest: '' };
  /** The kind whose rows are being written, by its place among the kinds. */
  private at = 0;

  constructor(order: MergeOrder, out: MergedFile) {
    this.order = order;
    this.out = out;
    this.keyLengths = new Map(order.kinds.map(({ name, keyLength }) => [name, keyLength]));
  }

  /** @returns the revision of what was written. */
  run(): number {
    const lines = readSnapshotLines(this.order.snapshot);
    this.out.line(String(lines.next().value));
    const head = JSON.parse(String(lines.next().value)) as { revision: number; digest: string };
    this.readJournal(head);
    this.out.line(JSON.stringify({ ...head, ...this.head }));
    for (const line of lines) this.takeLine(line);
    this.out.finish();
    return this.head.revision;
  }

  /** Keeps the row of each key after the last of its changes, and the head of the last change. */
  private readJournal({ revision, digest }: { revision: number; digest: string }): void {
    this.head = { revision, digest };
    for (const line of readLines(this.order.journal, this.order.journalBytes)) {
      const json = line.slice(9);
      if (line.slice(0, 9) !== `${crc32(json).toString(16).padStart(8, '0')} `) {
        throw new UnusableError('the journal has a damaged line');
      }
      const change = JSON.parse(json) as JournalChange;
      // Part of the snapshot: the process was killed between two renames.
      if (change.revision <= revision) continue;
      if (change.revision !== this.head.revision + 1)
        throw new UnusableError('the journal has a gap');
      for (const [type, kind, row] of change.operations) {
        this.latestOf(kind).set(this.keyOf(kind, row), type === 'put' ? row : null);
      }
      this.head = { revision: change.revision, digest: change.digest };
    }
  }

  private takeLine(line: string): void {
    const kind = ROWS_LINE.exec(line)?.[1];
    if (kind === undefined) return this.takeTrailer(line);
    this.writeLatestUntil(this.placeOf(kind));
    const latest = this.latest.get(kind);
    // Its rows are counted by the trailer.
    if (latest === undefined) return this.out.line(line);
    const { rows } = JSON.parse(line) as { rows: readonly Row[] };
    const kept = rows.filter((row) => !latest.has(this.keyOf(kind, row)));
    if (kept.length > 0) this.writeRows(kind, kept);
  }

  private takeTrailer(line: string): void {
    const trailer = JSON.parse(line) as { type: string; counts: Record<string, number> };
    if (trailer.type !== 'end') throw new UnusableError('the snapshot has an unknown line');
    this.writeLatestUntil(this.order.kinds.length);
    const counts = Object.fromEntries(
      Object.entries(trailer.counts).filter(([kind]) => !this.latest.has(kind)),
    );
    const { digest } = this.head;
    this.out.line(JSON.stringify({ type: 'end', counts: { ...counts, ...this.counts }, digest }));
  }

  /** Ends the kinds before this place, each with the rows of the journal. */
  private writeLatestUntil(place: number): void {
    if (place < this.at) throw new UnusableError('the kinds of the snapshot are not in order');
    for (; this.at < place; this.at++) {
      const name = this.order.kinds[this.at]?.name ?? '';
      const rows = [...(this.latest.get(name)?.values() ?? [])].filter((row) => row !== null);
      for (let i = 0; i < rows.length; i += ROWS_PER_LINE) {
        this.writeRows(name, rows.slice(i, i + ROWS_PER_LINE));
      }
    }
  }

  private writeRows(kind: string, rows: readonly Row[]): void {
    this.counts[kind] = (this.counts[kind] ?? 0) + rows.length;
    this.out.line(JSON.stringify({ type: 'rows', kind, rows }));
  }

  private placeOf(kind: string): number {
    const place = this.order.kinds.findIndex(({ name }) => name === kind);
    if (place < 0) throw new UnusableError('the snapshot has an unknown kind');
    return place;
  }

  private latestOf(kind: string): Map<string, Row | null> {
    const known = this.latest.get(kind);
    if (known) return known;
    const latest = new Map<string, Row | null>();
    this.latest.set(kind, latest);
    return latest;
  }

  private keyOf(kind: string, row: Row): string {
    const length = this.keyLengths.get(kind);
    if (length === undefined) throw new UnusableError('the journal has an unknown kind');
    return row.slice(0, length).join();
  }
}

/** Writes a snapshot file with the rows of the old one and the changes of its journal, or throws and leaves none. */
export function mergeSnapshot(order: MergeOrder): number {
  const out = new MergedFile(order.merged);
  try {
    return new Merge(order, out).run();
  } catch (error) {
    out.abandon();
    throw error;
  }
}

function answer(order: MergeOrder): MergeReply {
  try {
    return { revision: mergeSnapshot(order) };
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    return {
      error: String(error),
      isUnusable: error instanceof UnusableError || code === 'ENOENT',
    };
  }
}

const order = (workerData as { merge?: MergeOrder } | null)?.merge;
if (order !== undefined) {
  // On Linux, this is the priority of the calling thread only.
  if (process.platform === 'linux') setPriority(constants.priority.PRIORITY_LOW);
  parentPort?.postMessage(answer(order));
}
