import type { HashKey, SuffixHashes } from '@weir/dns-name';
import { CatalogueError } from '../catalogue-error.js';
import { type NameList, NameListBuilder } from '../names/name-list.js';
import { ADBLOCK } from './formats/adblock.js';
import { DOMAINS } from './formats/domains.js';
import { HOSTS } from './formats/hosts.js';
import type { EntrySink, LineFormat } from './formats/line-format.js';
import { RpzFormat } from './formats/rpz.js';
import { LineSplitter } from './line-splitter.js';
import type { ListFormat } from './list-format.js';
import { type ByteStream, DEFAULT_LIMITS, type ListLimits } from './list-limits.js';
import { type ListReport, ListReportBuilder } from './list-report.js';
import { NameHasher } from './name-hasher.js';
import { peek } from './peek.js';
import { readTarHeader, TAR_BLOCK, tarFiles } from './tar-files.js';
import { unpack } from './unpack.js';

/** The names of a list. */
export interface ReadList {
  readonly names: NameList;
  readonly report: ListReport;
}

/** Is called for each name of a list: the last of `hashes` is that of the name itself. */
export type VisitName = (hashes: SuffixHashes, line: number) => void;

/**
 * Reads a list as a stream, gzip or plain, and keeps its names as hashes. Invalid lines are counted, never fatal.
 * @throws CatalogueError in one line, without the name of the list: too large, invalid gzip, not UTF-8; and what
 *   `stream` throws.
 */
export async function readNames(
  stream: ByteStream,
  format: ListFormat,
  key: HashKey,
  limits: ListLimits = DEFAULT_LIMITS,
): Promise<ReadList> {
  const builder = new NameListBuilder();
  const report = await visitNames(
    stream,
    format,
    key,
    (hashes) => {
      if (builder.count === limits.maxNames) {
        throw new CatalogueError(`lists more than ${limits.maxNames} names`);
      }
      builder.add(hashes, hashes.count - 1);
    },
    limits,
  );
  return { names: builder.finish(), report };
}

/** Like `readNames`, but keeps no names. */
export async function visitNames(
  stream: ByteStream,
  format: ListFormat,
  key: HashKey,
  visit: VisitName,
  limits: ListLimits = DEFAULT_LIMITS,
): Promise<ListReport> {
  const reader = new ListReader(lineFormat(format), new NameHasher(key), visit, limits);
  const splitter = new LineSplitter(
    limits.maxLineBytes,
    (bytes, start, end) => reader.line(bytes, start, end),
    () => reader.tooLongLine(),
  );
  const bytes = unpack(stream, limits);
  for await (const chunk of format === 'ut1' ? ut1Domains(bytes) : bytes) splitter.push(chunk);
  splitter.end();
  reader.end();
  return reader.report;
}

function lineFormat(format: ListFormat): LineFormat {
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
  }
}

/** The files `<name>/domains` of a tar archive. Anything else is read as the text of such a file. */
async function* ut1Domains(stream: ByteStream): AsyncGenerator<Uint8Array> {
  const { head, whole } = await peek(stream, TAR_BLOCK);
  const isArchive = readTarHeader(head) !== null;
  yield* isArchive ? tarFiles(whole, /(?:^|\/)domains$/) : whole;
}

/** The state of one list while it is read. */
class ListReader implements EntrySink {
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

  nameText(text: string): void {
    this.hashed(this.hasher.hashText(text));
  }

  skipped(): void {
    this.report.skipped++;
  }

  invalid(problem: string): void {
    this.report.invalid(problem);
  }

  private hashed(problem: string | null): void {
    // A list of others that names one would block a large part of the internet (decisions §18).
    const refusal =
      problem ?? (this.hasher.hashes.count === 1 ? 'is a whole top-level domain' : null);
    if (refusal !== null) {
      this.report.invalid(refusal);
      return;
    }
    this.report.domains++;
    this.visit(this.hasher.hashes, this.report.lines);
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
