import type { HashKey, SuffixHashes } from '@weir/dns-name';
import { createHash, type Hash } from 'node:crypto';
import { CatalogueError } from '../catalogue-error.js';
import { type NameList, NameListBuilder } from '../names/name-list.js';
import { placeOf } from '../names/name-places.js';
import { DLC, readDlcLists, resolveDlc } from './formats/dlc.js';
import { ADBLOCK, DOMAINS, HOSTS, type EntrySink, type LineFormat } from './formats/line-format.js';
import { RpzFormat } from './formats/rpz.js';
import { close, type LineSink, LineSplitter, peek, unpack } from './unpack.js';
import {
  type ListFormat,
  type ByteStream,
  DEFAULT_LIMITS,
  type ListLimits,
  type ListExample,
  type ListReport,
  ListReportBuilder,
} from './list.js';
import { NameHasher } from './name-hasher.js';
import { NeverBlock, isPublicSuffix } from './never-block.js';
import { readTarHeader, TAR_BLOCK, tarFiles } from './tar-files.js';

/** The formats of lists, and changes of a zone as `ZoneText` writes them. */
type ReadFormat = ListFormat | 'ixfr';

/** The names of a list. */
export interface ReadList {
  readonly names: NameList;
  /** Of each of `names` the first line that lists it, with the bits of `ZoneBit`. */
  readonly lines: Uint32Array<ArrayBuffer>;
  readonly report: ListReport;
  /** Those of `names` that would block a domain of `never_block`. */
  readonly protectedNames: NameList;
  /** The first ten lines with one. */
  readonly protectedLines: readonly ListExample[];
}

export interface ReadOptions {
  /** By default `DEFAULT_LIMITS`. */
  readonly limits?: ListLimits;
  /** The only digest that the bytes of the list may have, 64 lower-case hex digits; null: any. */
  readonly sha256?: string | null;
  /** Of format `dlc`: which list of an archive, see `resolveDlc`. */
  readonly list?: string | null;
  /** In normal form; by default none. */
  readonly neverBlock?: readonly string[];
}

/**
 * Gets each name of a list: the last of `hashes` is its own, `name.domain()` its text. `record` is 0, or of a zone a
 * bit of `ZoneBit`. Changes of a zone also have removals.
 */
export type VisitName = (
  hashes: SuffixHashes,
  line: number,
  name: Pick<NameHasher, 'domain'>,
  record: number,
  isRemoval: boolean,
) => void;

/**
 * Reads a list as a stream, gzip or plain, and keeps its names as hashes. Invalid lines are counted, never fatal.
 * @throws CatalogueError in one line, without the name of the list: too large, invalid gzip, not UTF-8, another digest;
 *   and what `stream` throws.
 */
export async function readNames(
  stream: ByteStream,
  format: ListFormat,
  key: HashKey,
  options: ReadOptions = {},
): Promise<ReadList> {
  const { limits: { maxNames } = DEFAULT_LIMITS, neverBlock = [] } = options;
  const names = new NameListBuilder();
  const protectedNames = new NameListBuilder();
  const never = new NeverBlock(neverBlock, key);
  const visit: VisitName = (hashes, line, _name, record) => {
    if (names.count === maxNames) throw new CatalogueError(`lists more than ${maxNames} names`);
    const isProtected = never.protects(hashes, line);
    names.add(hashes, hashes.count - 1, placeOf(line, record, isProtected));
    if (isProtected) protectedNames.add(hashes, hashes.count - 1);
  };
  const report = await visitNames(stream, format, key, visit, options);
  return {
    ...names.finishWithLines(),
    report,
    protectedNames: protectedNames.finish(),
    protectedLines: never.lines,
  };
}

/** Like `readNames`, but keeps no names. It throws for another digest only after the last name. */
export async function visitNames(
  stream: ByteStream,
  format: ReadFormat,
  key: HashKey,
  visit: VisitName,
  { limits = DEFAULT_LIMITS, sha256 = null, list = null }: ReadOptions = {},
): Promise<ListReport> {
  const reader = new ListReader(lineFormat(format), new NameHasher(key), visit, limits);
  const splitter = new LineSplitter(limits.maxLineBytes, reader);
  const digest = createHash('sha256');
  const bytes = unpack(sha256 === null ? stream : hashed(stream, digest), limits);
  for await (const chunk of linesOf(format, bytes, list)) splitter.push(chunk);
  splitter.end();
  reader.end();
  if (sha256 !== null) checkDigest(digest.digest('hex'), sha256);
  return reader.report;
}

async function* hashed(stream: ByteStream, digest: Hash): AsyncGenerator<Uint8Array> {
  for await (const chunk of stream) {
    digest.update(chunk);
    yield chunk;
  }
}

function checkDigest(sha256: string, pinned: string): void {
  if (sha256 === pinned) return;
  throw new CatalogueError(`has the sha256 ${sha256}, not the ${pinned} of its definition`);
}

function lineFormat(format: ReadFormat): LineFormat {
  switch (format) {
    case 'domains':
    case 'ut1':
      return DOMAINS;
    case 'hosts':
      return HOSTS;
    case 'adblock':
      return ADBLOCK;
    case 'rpz':
      return new RpzFormat();
    case 'ixfr':
      return new RpzFormat(true);
    case 'dlc':
      return DLC;
  }
}

/** What the format reads line by line: of an archive its files, or else all bytes. */
async function* linesOf(
  format: ReadFormat,
  stream: ByteStream,
  list: string | null,
): AsyncGenerator<Uint8Array> {
  if (format !== 'ut1' && format !== 'dlc') {
    yield* stream;
    return;
  }
  const { head, whole } = await peek(stream, TAR_BLOCK);
  const isArchive = readTarHeader(head) !== null;
  if (!isArchive && format === 'dlc' && list?.includes('@') === true) {
    await close(whole);
    throw new CatalogueError('is one list: name the whole folder or archive for its attributes');
  }
  if (!isArchive) yield* whole;
  else if (format === 'ut1') yield* tarFiles(whole, /(?:^|\/)domains$/);
  else yield Buffer.from(resolveDlc(await readDlcLists(whole), list ?? ''));
}

/** The state of one list while it is read. */
class ListReader implements EntrySink, LineSink {
  readonly report = new ListReportBuilder();

  constructor(
    private readonly format: LineFormat,
    private readonly hasher: NameHasher,
    private readonly visit: VisitName,
    private readonly limits: ListLimits,
  ) {}

  line(bytes: Uint8Array, start: number, end: number): void {
    this.report.lines++;
    const from = this.report.lines === 1 ? skipByteOrderMark(bytes, start, end) : start;
    this.format.line(bytes, from, end, this);
  }

  end(): void {
    this.format.end?.(this);
  }

  tooLongLine(): void {
    this.report.lines++;
    this.invalid(`is longer than ${this.limits.maxLineBytes} bytes`);
  }

  name(bytes: Uint8Array, start: number, end: number): void {
    this.hashed(this.hasher.hash(bytes, start, end));
  }

  nameText(text: string, record?: number): void {
    this.hashed(this.hasher.hashText(text), record);
  }

  skipped(): void {
    this.report.skipped++;
  }

  invalid(problem: string): void {
    if (this.format.isRemoval === true) this.report.invalidLines--;
    else this.report.invalid(problem);
  }

  private hashed(problem: string | null, record = 0): void {
    // A list of others that names a public suffix would block a large part of the internet (decisions §18).
    const refusal =
      problem ?? (isPublicSuffix(this.hasher.domain()) ? 'is a public suffix such as com' : null);
    if (refusal !== null) {
      this.invalid(refusal);
      return;
    }
    this.report.domains++;
    const { isRemoval = false } = this.format;
    this.visit(this.hasher.hashes, this.report.lines, this.hasher, record, isRemoval);
  }
}

/** @throws CatalogueError for UTF-16, which no format uses. */
function skipByteOrderMark(bytes: Uint8Array, start: number, end: number): number {
  const [first, second, third] = bytes.subarray(start, end);
  if ((first === 0xff && second === 0xfe) || (first === 0xfe && second === 0xff)) {
    throw new CatalogueError('is UTF-16, must be UTF-8');
  }
  return first === 0xef && second === 0xbb && third === 0xbf ? start + 3 : start;
}
