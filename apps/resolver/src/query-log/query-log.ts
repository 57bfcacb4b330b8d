import { cutHash } from '@weir/dns-name';
import { HEADER_BYTES, formatName } from '@weir/dns-wire';
import { createLogger, type Logger } from '@weir/ops';
import { pino } from 'pino';
import { sourceLabel } from '../metrics/latency-histogram.js';
import type { AnswerSource } from '../query/answer-source.js';
import { NO_VERDICT, queryLabels } from '../metrics/query-counters.js';
import type { Exchange } from '../query/exchange.js';

/** What there is to tell of an answered query beside the query itself. */
export interface QueryLogEntry {
  /** A `Verdict` or `NO_VERDICT`. */
  readonly verdict: number;
  /** A `Reason`. */
  readonly reason: number;
  readonly rcode: number;
  readonly source: AnswerSource;
  /** The active profile; −1: none. */
  readonly profileId: number;
  /** Clock of `Exchange.startedMs`. */
  readonly nowMs: number;
}

export interface QueryLogOptions {
  /** One query in so many is logged; 1: each. */
  readonly sampling: number;
  /** Whether names stand in the log; else their keyed hashes do. */
  readonly showNames: boolean;
  /** File or descriptor. Default: standard output. */
  readonly destination?: string | number;
  /** Bytes that may wait to be written. */
  readonly capacityBytes?: number;
}

const STANDARD_OUTPUT = 1;
const DEFAULT_CAPACITY_BYTES = 1024 * 1024;
/** Lines are gathered for this long or this many bytes. A pipe takes this much in one piece, so lines of the other log never fall into one. */
const FLUSH_MS = 1_000;
const WRITE_BYTES = 4096;

/**
 * A line for every so many answered queries. Written behind the queries' back: when whoever reads the log is slower than that, lines are
 * lost and counted, and no query waits.
 */
export class QueryLog {
  /** Queries that were to be logged, and those of them whose line was lost. */
  sampled = 0;
  dropped = 0;
  private readonly destination: ReturnType<typeof pino.destination>;
  private readonly log: Logger;
  private untilSample = 1;
  private isBroken = false;

  constructor(private readonly options: QueryLogOptions) {
    this.destination = pino.destination({
      dest: options.destination ?? STANDARD_OUTPUT,
      sync: false,
      minLength: WRITE_BYTES / 2,
      maxWrite: WRITE_BYTES,
      maxLength: options.capacityBytes ?? DEFAULT_CAPACITY_BYTES,
      periodicFlush: FLUSH_MS,
    });
    this.destination.on('drop', () => this.dropped++);
    // Such as a reader that has gone: nothing can be said about it in the log itself.
    this.destination.on('error', () => {
      this.isBroken = true;
    });
    this.log = createLogger({ name: 'resolver', level: 'info' }, this.destination);
  }

  /** Whether the query in hand, one in so many, is to be sampled. */
  takeSample(): boolean {
    if (--this.untilSample > 0) return false;
    this.untilSample = this.options.sampling;
    return true;
  }

  write(exchange: Exchange, answer: QueryLogEntry): void {
    this.sampled++;
    if (this.isBroken) {
      this.dropped++;
      return;
    }
    const { transport } = exchange.replyPath;
    const { qtype } = exchange.query;
    const labels = queryLabels(transport, qtype, answer.verdict, answer.reason, answer.rcode);
    this.log.info(
      {
        ...this.nameOf(exchange, answer),
        ...labels,
        type: labels.type === 'other' ? typeLabel(qtype) : labels.type,
        source: sourceLabel(answer.source),
        ...(answer.verdict !== NO_VERDICT &&
          answer.profileId >= 0 && { profile: answer.profileId }),
        ...(exchange.startedMs !== 0 && { ms: Math.round(answer.nowMs - exchange.startedMs) }),
      },
      'query',
    );
  }

  /** Writes what waits. */
  async close(): Promise<void> {
    if (this.isBroken) return;
    await new Promise<void>((resolve) => {
      this.destination.once('close', resolve);
      this.destination.once('error', () => {
        resolve();
      });
      this.destination.end();
    });
  }

  /** The name, or the hash by which the management API knows it. Neither for a query that was not judged, no hash where there is none. */
  private nameOf(
    { bytes, nameHashLow, nameHashHigh }: Exchange,
    { verdict }: QueryLogEntry,
  ): { name: string } | { nameHash: number } | null {
    if (verdict === NO_VERDICT) return null;
    if (this.options.showNames) return { name: formatName(bytes, HEADER_BYTES) };
    const isKnown = nameHashLow !== 0 || nameHashHigh !== 0;
    return isKnown ? { nameHash: cutHash(nameHashLow >>> 0, nameHashHigh >>> 0) } : null;
  }
}

/** 0: there was no usable question. */
function typeLabel(qtype: number): string {
  return qtype === 0 ? 'none' : `TYPE${qtype}`;
}
