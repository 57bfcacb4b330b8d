import { cutHash, type HashKey, SuffixHashes } from '@weir/dns-name';
import { formatName, HEADER_BYTES, Rcode } from '@weir/dns-wire';
import type { Question } from '../query/question.js';
import { HeavyHitters, type Hit, totalOf } from './heavy-hitters.js';

/** Domains of each number of labels that are counted at a time. */
const CAPACITY = 128;
/** Domains in the list. */
const MAX_LISTED = 50;
/** Counts are halved after this time, so that the list shows what fails lately. */
const HALVING_SECONDS = 300;
/** The largest domain that may be a zone has two labels, or three as in `example.co.uk`. */
const LABELS = [2, 3] as const;

/** How a question ended without an answer. */
const KINDS = ['silent', 'servfail', 'refused', 'other'] as const;
type Kind = (typeof KINDS)[number];
const KIND_OF_RCODE = new Map<number, Kind>([
  [Rcode.servFail, 'servfail'],
  [Rcode.refused, 'refused'],
]);

export interface FailingZone extends Readonly<Record<Kind, number>> {
  /** Hash of the domain as in the management API. */
  readonly domain_hash: number;
  /** Only where names may be shown. */
  readonly domain?: string;
}

export interface FailingZonesOptions {
  /** The `DOMAIN_HASH_KEY`. */
  readonly key: HashKey;
  /** Whether names are kept and shown. Otherwise only their hashes are. */
  readonly showNames: boolean;
  /** Monotonic clock, in whole seconds. */
  readonly nowSeconds: () => number;
}

/**
 * The domains in which most questions fail lately. A question counts for the last two labels of its name, and for the
 * last three when the name has more.
 */
export class FailingZones {
  private readonly hashes: SuffixHashes;
  private readonly domains = LABELS.map(
    () => new HeavyHitters<string | undefined>(CAPACITY, KINDS.length),
  );
  private halveAtSeconds: number;

  constructor(private readonly options: FailingZonesOptions) {
    this.hashes = new SuffixHashes(options.key);
    this.halveAtSeconds = options.nowSeconds() + HALVING_SECONDS;
  }

  /** @param rcode of the first upstream that answered; null: all were silent */
  record({ bytes }: Question, rcode: number | null): void {
    this.halve();
    const labelCount = this.hashes.compute(bytes, HEADER_BYTES);
    const kind = rcode === null ? 'silent' : (KIND_OF_RCODE.get(rcode) ?? 'other');
    for (const [i, domains] of this.domains.entries()) {
      const labels = LABELS[i];
      if (labelCount < LABELS[0] || (labels > LABELS[0] && labelCount <= labels)) continue;
      const key = cutHash(this.hashes.low[labels - 1], this.hashes.high[labels - 1]);
      domains.record(key, KINDS.indexOf(kind), () => this.labelOf(bytes, labelCount - labels));
    }
  }

  /** The worst first. Counts are lower bounds. */
  list(): readonly FailingZone[] {
    this.halve();
    const hits = this.domains.flatMap((domains) => domains.hits);
    const worst = hits.sort((one, other) => totalOf(other) - totalOf(one)).slice(0, MAX_LISTED);
    return worst.map(toZone);
  }

  private labelOf(bytes: Uint8Array, skippedLabels: number): string | undefined {
    if (!this.options.showNames) return undefined;
    let at = HEADER_BYTES;
    for (let i = 0; i < skippedLabels; i++) at += bytes[at] + 1;
    return formatName(bytes, at).toLowerCase();
  }

  private halve(): void {
    const nowSeconds = this.options.nowSeconds();
    for (let i = 0; i < 31 && nowSeconds >= this.halveAtSeconds; i++) {
      for (const domains of this.domains) domains.halve();
      this.halveAtSeconds += HALVING_SECONDS;
    }
    if (nowSeconds >= this.halveAtSeconds) this.halveAtSeconds = nowSeconds + HALVING_SECONDS;
  }
}

function toZone({ key, label, counts }: Hit<string | undefined>): FailingZone {
  const [silent, servfail, refused, other] = counts;
  const domain = label === undefined ? {} : { domain: label };
  return { domain_hash: key, ...domain, silent, servfail, refused, other };
}
