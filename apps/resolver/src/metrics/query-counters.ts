import { Rcode, Type } from '@weir/dns-wire';
import { Reason, Verdict } from '@weir/policy';
import { DropReason, Transport } from '../query/exchange.js';

/** In place of a verdict: the query was refused or answered before the policy was asked. */
export const NO_VERDICT = 3;

const TRANSPORTS = labelsOf(Transport);
/** Query types with a label of their own. */
// oxfmt-ignore
const COUNTED_TYPES = [
  'a', 'ns', 'cname', 'soa', 'ptr', 'mx', 'txt', 'aaaa', 'srv', 'svcb', 'https', 'any',
] as const;
/** All others share the first label. */
const TYPES = ['other', ...COUNTED_TYPES.map((name) => name.toUpperCase())];
/** Labels in the order of their numbers. The last verdict is `NO_VERDICT`. */
export const VERDICTS = [...labelsOf(Verdict), 'none'];
export const REASONS = labelsOf(Reason);
/** RCODE labels in order of their numbers, except the last, which is 23. */
// oxfmt-ignore
const RCODES = [
  'NOERROR', 'FORMERR', 'SERVFAIL', 'NXDOMAIN', 'NOTIMP', 'REFUSED', 'YXDOMAIN', 'YXRRSET', 'NXRRSET', 'NOTAUTH',
  'NOTZONE', '11', '12', '13', '14', '15', 'BADVERS', 'BADCOOKIE',
] as const;

const BAD_COOKIE = RCODES.length - 1;

/** @param rcode 0 … 16 */
export function rcodeLabel(rcode: number): string {
  return RCODES[rcode];
}

/** Position of the label of each type up to 255. */
const TYPE_POSITIONS = new Uint8Array(256);
COUNTED_TYPES.forEach((name, i) => (TYPE_POSITIONS[Type[name]] = i + 1));

const DROPPED = labelsOf(DropReason);
const ANSWERS = TRANSPORTS.length * TYPES.length * VERDICTS.length * REASONS.length * RCODES.length;

export type QueryLabels = Record<'transport' | 'type' | 'verdict' | 'reason' | 'rcode', string>;

/**
 * Counts answered queries by transport, type, verdict, reason and RCODE, and packets without an answer. Each count is
 * one increment in a typed array; label texts are made when the metrics are read.
 */
export class QueryCounters {
  static readonly size = ANSWERS + DROPPED.length + 1;

  /**
   * Those of answers: row-major over transport, type, verdict, reason, RCODE. Then those of packets without one, then
   * that of answers whose private addresses were removed.
   */
  private readonly answers: Float64Array;
  private readonly dropped: Float64Array;
  private readonly rebindings: Float64Array;

  /** @param counts where it counts: `size` numbers, which another thread may read */
  constructor(counts: Float64Array = new Float64Array(QueryCounters.size)) {
    this.answers = counts.subarray(0, ANSWERS);
    this.dropped = counts.subarray(ANSWERS, ANSWERS + DROPPED.length);
    this.rebindings = counts.subarray(ANSWERS + DROPPED.length);
  }

  /** @param verdict a `Verdict` or `NO_VERDICT`. @param reason a `Reason`. @param rcode 0 … 16 or BADCOOKIE. */
  answered(
    transport: Transport,
    qtype: number,
    verdict: number,
    reason: Reason,
    rcode: number,
  ): void {
    this.answers[positionOf(transport, qtype, verdict, reason, rcode)]++;
  }

  drop(reason: DropReason): void {
    this.dropped[reason]++;
  }

  removedAddresses(): void {
    this.rebindings[0]++;
  }

  get addressRemovals(): number {
    return this.rebindings[0];
  }

  /** How many queries were answered, and how many of them a policy has blocked. */
  totals(): { readonly answered: number; readonly blocked: number } {
    const { answers } = this;
    const each = REASONS.length * RCODES.length;
    let answered = 0;
    let blocked = 0;
    for (let i = 0; i < answers.length; i++) {
      answered += answers[i];
      if (Math.floor(i / each) % VERDICTS.length === Verdict.block) blocked += answers[i];
    }
    return { answered, blocked };
  }

  /** Every count that is not zero. */
  *answeredCounts(): Generator<[QueryLabels, number]> {
    for (const [index, count] of this.answers.entries()) {
      if (count > 0) yield [labelsAt(index), count];
    }
  }

  droppedCounts(): [{ why: string }, number][] {
    return DROPPED.map((why, i) => [{ why }, this.dropped[i]]);
  }
}

/** The labels of an answered query; the parameters are those of `QueryCounters.answered`. */
export function queryLabels(
  transport: Transport,
  qtype: number,
  verdict: number,
  reason: number,
  rcode: number,
): QueryLabels {
  return labelsAt(positionOf(transport, qtype, verdict, reason, rcode));
}

function positionOf(
  transport: number,
  qtype: number,
  verdict: number,
  reason: number,
  rcode: number,
): number {
  let at = transport * TYPES.length + (qtype < 256 ? TYPE_POSITIONS[qtype] : 0);
  at = at * VERDICTS.length + verdict;
  at = at * REASONS.length + reason;
  return at * RCODES.length + (rcode === Rcode.badCookie ? BAD_COOKIE : rcode);
}

function labelsAt(index: number): QueryLabels {
  let rest = index;
  const take = (labels: readonly string[]): string => {
    const label = labels[rest % labels.length];
    rest = Math.floor(rest / labels.length);
    return label;
  };
  const rcode = take(RCODES);
  const reason = take(REASONS);
  const verdict = take(VERDICTS);
  const type = take(TYPES);
  return { transport: take(TRANSPORTS), type, verdict, reason, rcode };
}

/** The keys of an enumeration 0, 1, 2 … in `snake_case`, ordered by number. */
function labelsOf(numbers: Readonly<Record<string, number>>): string[] {
  const names = Object.entries(numbers).sort(([, a], [, b]) => a - b);
  return names.map(([name]) => name.replaceAll(/[A-Z]/g, (c) => `_${c.toLowerCase()}`));
}
