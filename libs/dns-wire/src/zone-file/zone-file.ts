import { type Entry, readEntries, type Token } from './entries.js';
import { Fields, secondsOf } from './fields.js';
import { readTypeAndRdata } from './rdata.js';
import { wireNameOf } from './text.js';
import { ZoneFileError } from './zone-file-error.js';

/** One record of class IN. Names are uncompressed. */
export interface ZoneRecord {
  /** Where it begins in the file, from 1. */
  readonly line: number;
  /** A wire name, in the case that it is written in. */
  readonly owner: Uint8Array;
  readonly type: number;
  readonly ttlSeconds: number;
  readonly rdata: Uint8Array;
}

/** TTL of a record without one, when there is none before it either. */
const DEFAULT_TTL_SECONDS = 3600;
const ROOT = Uint8Array.of(0);
const OTHER_CLASS = /^(?:CS|CH|HS|ANY|NONE|CLASS\d+)$/i;

/**
 * Parses a zone file (master file, RFC 1035 §5), with `$ORIGIN` and `$TTL` (RFC 2308 §4). Without `$ORIGIN` names are
 * relative to the root.
 * @throws ZoneFileError with the number of the line, when anything in it cannot be used, or there are more than
 *   `maxRecords`
 */
export function parseZoneFile(text: string, maxRecords = Infinity): ZoneRecord[] {
  const parser = new Parser();
  // Some editors begin a file with a byte order mark.
  for (const entry of readEntries(text.replace(/^\uFEFF/, ''))) {
    try {
      parser.read(entry);
      if (parser.records.length > maxRecords) {
        throw new ZoneFileError(`there are more than ${maxRecords} records`);
      }
    } catch (error) {
      if (!(error instanceof ZoneFileError)) throw error;
      throw new ZoneFileError(`line ${entry.line}: ${error.message}`, { cause: error });
    }
  }
  return parser.records;
}

/** Goes through the entries of one file, in order. */
class Parser {
  readonly records: ZoneRecord[] = [];
  private origin: Uint8Array = ROOT;
  private owner: Uint8Array | null = null;
  private defaultTtl: number | null = null;
  private lastTtl = DEFAULT_TTL_SECONDS;

  read(entry: Entry): void {
    const [{ text, isQuoted }] = entry.tokens;
    const isDirective = !entry.isIndented && !isQuoted && text.startsWith('$');
    if (isDirective) this.readDirective(text.toUpperCase(), entry.tokens);
    else this.readRecord(entry);
  }

  private readDirective(name: string, [, argument, ...rest]: readonly (Token | undefined)[]): void {
    if (name !== '$ORIGIN' && name !== '$TTL') throw new ZoneFileError(`${name} is not supported`);
    if (argument === undefined || rest.length > 0)
      throw new ZoneFileError(`${name} needs one value`);
    if (name === '$TTL') this.defaultTtl = secondsOf(argument.text);
    else this.origin = wireNameOf(argument.text, this.origin);
  }

  private readRecord({ line, isIndented, tokens }: Entry): void {
    if (!isIndented) this.owner = wireNameOf(tokens[0].text, this.origin);
    const { owner } = this;
    if (owner === null) throw new ZoneFileError('the first record has no owner');
    let at = isIndented ? 0 : 1;
    let ttl: number | null = null;
    let hasClass = false;
    for (; at < tokens.length; at++) {
      const { text } = tokens[at];
      if (ttl === null && /^\d/.test(text)) ttl = secondsOf(text);
      else if (!hasClass && text.toUpperCase() === 'IN') hasClass = true;
      else break;
    }
    if (at >= tokens.length) throw new ZoneFileError('the type is missing');
    const typeName = tokens[at].text;
    if (OTHER_CLASS.test(typeName)) throw new ZoneFileError('the class is not IN');
    const fields = new Fields(tokens.slice(at + 1), this.origin);
    const { type, rdata } = readTypeAndRdata(typeName, fields);
    const ttlSeconds = ttl ?? this.defaultTtl ?? this.lastTtl;
    this.lastTtl = ttlSeconds;
    this.records.push({ line, owner, type, ttlSeconds, rdata });
  }
}
