import { ZoneBit } from '../../names/name-places.js';
import type { EntrySink, LineFormat } from './line-format.js';

/** Words, quoted strings, comments and parentheses of a zone file (RFC 1035 §5.1). */
const TOKENS = /"(?:[^"\\]|\\.)*"?|;.*|[()]|(?:[^\s;()"\\]|\\.)+/g;
const STARTS_WITH_SPACE = /^[ \t]/;
const TTL = /^\d[\dsmhdw]*$/i;
const CLASS = /^(?:in|ch|hs)$/i;
/** Last labels of owners that stand for addresses, name servers or clients instead of the queried name. */
const OTHER_TRIGGER = /(?:^|\.)rpz-(?:ip|nsip|nsdname|client-ip)$/;
/** Tokens of a record that are kept: owner, TTL, class, type, target. Further tokens are not. */
const MAX_TOKENS = 8;
const MAX_RECORD_LINES = 1000;

/** NXDOMAIN, NODATA and DROP, as CNAME targets. */
const BLOCKING = new Set(['.', '*.', 'rpz-drop.']);

/**
 * A response policy zone as a zone file. The owners of `CNAME .`, `CNAME *.` and `CNAME rpz-drop.` are listed,
 * relative to the zone; `*.name` lists name. Other policies and triggers are skipped.
 * Source: Vixie, Schryver, "DNS Response Policy Zones" (draft-vixie-dnsop-dns-rpz-00), §3, §4.
 */
export class RpzFormat implements LineFormat {
  /** The name of the zone, from the first `$ORIGIN` or the SOA record: lower case, no dot at the end. */
  private zone: string | null = null;
  /** The origin of relative names; null: the zone, whose name is not known. */
  private origin: string | null = null;
  private lastOwner: string | null = null;
  /** The tokens of the current record, which may have several lines within parentheses. */
  private tokens: string[] = [];
  private isOwnerless = false;
  private depth = 0;
  private recordLines = 0;
  private soaRecords = 0;

  /**
   * @param isOfChanges it is changes of a zone (RFC 1995 §4): records behind the second SOA record are removed, behind
   *   the third added, and so on. Else each SOA record begins a zone.
   */
  constructor(private readonly isOfChanges = false) {}

  get isRemoval(): boolean {
    return this.isOfChanges && this.soaRecords > 0 && this.soaRecords % 2 === 0;
  }

  line(bytes: Uint8Array, start: number, end: number, entries: EntrySink): void {
    const text = Buffer.from(bytes.buffer, bytes.byteOffset + start, end - start).toString('utf8');
    if (this.depth === 0) {
      this.tokens = [];
      this.recordLines = 0;
      this.isOwnerless = STARTS_WITH_SPACE.test(text);
    }
    this.takeTokens(text);
    if (this.depth > 0 && ++this.recordLines < MAX_RECORD_LINES) return;
    if (this.depth > 0) this.end(entries);
    else if (this.tokens.length > 0) this.entry(this.tokens, entries);
  }

  end(entries: EntrySink): void {
    if (this.depth > 0) entries.invalid('a parenthesis before it is never closed');
    this.depth = 0;
  }

  private takeTokens(text: string): void {
    for (const token of text.match(TOKENS) ?? []) {
      if (token === '(') this.depth++;
      else if (token === ')') this.depth = Math.max(0, this.depth - 1);
      else if (!token.startsWith(';') && this.tokens.length < MAX_TOKENS) this.tokens.push(token);
    }
  }

  private entry(tokens: readonly string[], entries: EntrySink): void {
    if (tokens[0].startsWith('$')) {
      this.directive(tokens, entries);
      return;
    }
    const owner = this.isOwnerless ? this.lastOwner : this.absolute(tokens[0]);
    if (owner === null) {
      entries.invalid('a record without an owner');
      return;
    }
    this.lastOwner = owner;
    const isAbsolute = !this.isOwnerless && tokens[0].endsWith('.');
    const fields = tokens.slice(this.isOwnerless ? 0 : 1);
    const typeAt = fields.findIndex((field) => !TTL.test(field) && !CLASS.test(field));
    const [type, target] = typeAt === -1 ? [] : fields.slice(typeAt);
    // The origin of a zone file is its zone (RFC 1035 §5.1). Owners behind the first record may rely on it.
    if (type?.toUpperCase() === 'SOA' && isAbsolute) this.origin ??= owner;
    this.record(owner, type?.toUpperCase(), target, entries);
  }

  private directive([name, value]: readonly string[], entries: EntrySink): void {
    const directive = name.toUpperCase();
    if (directive === '$TTL') return;
    if (directive !== '$ORIGIN' || value === undefined) {
      entries.invalid('a directive other than $ORIGIN and $TTL');
      return;
    }
    this.origin = this.absolute(value);
    // A relative one is below the zone, whose name is not in the file.
    if (this.origin !== '' && value.endsWith('.')) this.zone ??= this.origin;
  }

  private record(
    owner: string,
    type: string | undefined,
    target: string | undefined,
    entries: EntrySink,
  ): void {
    if (type === undefined) entries.invalid('a record without a type');
    else if (type === 'SOA') {
      this.soaRecords++;
      this.zone = this.origin === null && owner === '' ? null : owner;
    } else if (type === 'NS') return;
    else if (type === 'CNAME' && target !== undefined && BLOCKING.has(target.toLowerCase())) {
      this.list(owner, entries);
    } else entries.skipped();
  }

  private list(owner: string, entries: EntrySink): void {
    const trigger = this.relativeToZone(owner);
    if (trigger === null) entries.invalid('an owner outside of the zone');
    else if (trigger === '' || trigger === '*' || OTHER_TRIGGER.test(trigger)) entries.skipped();
    else if (trigger.startsWith('*.')) entries.nameText(trigger.slice(2), ZoneBit.wildcard);
    else entries.nameText(trigger, ZoneBit.name);
  }

  /** The absolute form of a name, in lower case and without the final dot; relative while the zone has no name. */
  private absolute(name: string): string {
    const lower = name.toLowerCase();
    if (lower === '@') return this.origin ?? '';
    if (lower.endsWith('.')) return lower.slice(0, -1);
    return this.origin ? `${lower}.${this.origin}` : lower;
  }

  private relativeToZone(owner: string): string | null {
    if (this.zone === null || this.zone === '') return owner;
    if (owner === this.zone) return '';
    return owner.endsWith(`.${this.zone}`) ? owner.slice(0, -this.zone.length - 1) : null;
  }
}
