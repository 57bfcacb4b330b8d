import { cutHash, type HashKey, SuffixHashes } from '@weir/dns-name';
import { formatName, HEADER_BYTES } from '@weir/dns-wire';
import type { Question } from '../query/question.js';
import { TopCounts } from './top-counts.js';

export interface ZoneFailuresOptions {
  readonly key: HashKey;
  /** Whether zones are told by name. Otherwise they are told by the hash that the management API uses. */
  readonly showNames: boolean;
  /** Monotonic clock, in whole seconds. */
  readonly nowSeconds: () => number;
}

export interface ZoneFailureCount {
  readonly zone: string | number;
  /** Questions without an answer. */
  readonly failures: number;
  /** The true number may be lower by up to this much. */
  readonly error: number;
}

const CAPACITY = 64;
/** Failures of the current period and of the one before are told. */
const PERIOD_SECONDS = 300;

/** Zones such as `co.uk`, in which others register names: both labels are short. */
const COUNTRY_BYTES = 2;
const SHORT_BYTES = 3;

/**
 * The zones whose questions failed most in the last five to ten minutes. A zone is the last two labels of a name, or
 * three as in `example.co.uk`. Names are not kept unless they may be shown.
 */
export class ZoneFailures {
  private current = new TopCounts<string | number>(CAPACITY);
  private previous = new TopCounts<string | number>(CAPACITY);
  private periodEnd = -Infinity;
  private readonly hashes: SuffixHashes;

  constructor(private readonly options: ZoneFailuresOptions) {
    this.hashes = new SuffixHashes(options.key);
  }

  /** No upstream had an answer to the question. */
  add({ bytes }: Question): void {
    this.turn();
    const { hashes } = this;
    const labels = hashes.compute(bytes, HEADER_BYTES);
    if (labels <= 0) return;
    const starts = labelStarts(bytes);
    const zoneLabels = Math.min(labels, hasShortParent(bytes, starts) ? 3 : 2);
    const hash = cutHash(hashes.low[zoneLabels - 1], hashes.high[zoneLabels - 1]);
    const name = (): string => formatName(bytes, starts[labels - zoneLabels]).toLowerCase();
    this.current.add(hash, this.options.showNames ? name : () => hash);
  }

  /** Most failures first. */
  counts(): readonly ZoneFailureCount[] {
    this.turn();
    const merged = new Map<number, ZoneFailureCount>();
    for (const { key, value, count, error } of [
      ...this.current.sorted(),
      ...this.previous.sorted(),
    ]) {
      const other = merged.get(key) ?? { failures: 0, error: 0 };
      const sum = { failures: other.failures + count, error: other.error + error };
      merged.set(key, { zone: value, ...sum });
    }
    const sorted = [...merged.values()].sort((one, other) => other.failures - one.failures);
    return sorted.slice(0, CAPACITY);
  }

  private turn(): void {
    const nowSeconds = this.options.nowSeconds();
    if (nowSeconds < this.periodEnd) return;
    const isNext = nowSeconds < this.periodEnd + PERIOD_SECONDS;
    this.previous = isNext ? this.current : new TopCounts(CAPACITY);
    this.current = new TopCounts(CAPACITY);
    this.periodEnd = nowSeconds + PERIOD_SECONDS;
  }
}

function labelStarts(bytes: Uint8Array): number[] {
  const starts: number[] = [];
  for (let at = HEADER_BYTES; bytes[at] !== 0; at += bytes[at] + 1) starts.push(at);
  return starts;
}

function hasShortParent(bytes: Uint8Array, starts: readonly number[]): boolean {
  if (starts.length < 3) return false;
  const [second, top] = starts.slice(-2);
  return bytes[top] === COUNTRY_BYTES && bytes[second] <= SHORT_BYTES;
}
