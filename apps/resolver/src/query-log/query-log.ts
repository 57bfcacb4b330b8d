import { cutHash } from '@weir/dns-name';
import { HEADER_BYTES, formatName } from '@weir/dns-wire';
import { createLogger, type Logger } from '@weir/ops';
import { pino } from 'pino';
import { sourceLabel } from '../metrics/latency-histogram.js';
import { NO_VERDICT, queryLabels } from '../metrics/query-counters.js';
import type { AnswerSource } from '../query/answer-source.js';
import type { Exchange } from '../query/exchange.js';

/** What is logged about an answered query, besides the query itself. */
export interface QueryLogEntry {
  /** A `Verdict` or `NO_VERDICT`. */
  readonly verdict: number;
  /** A `Reason`. */
  readonly reason: number;
  readonly rcode: number;
  readonly source: AnswerSource;
  /** The active profile; −1: none. */
  readonly profileId: number;
  /** Time on the clock of `Exchange.startedMs`. */
  readonly nowMs: number;
}

export interface QueryLogOptions {
  /** One query in this many is logged; 1: every query. */
  readonly sampling: number;
  /** Whether the log contains names. Otherwise it contains their keyed hashes. */
  readonly showNames: boolean;
  /** File or file descriptor. Default: standard output. */
  readonly destination?: string | number;
  /** Maximum number of bytes that wait to be written. */
  readonly capacityBytes?: number;
}

const STANDARD_OUTPUT = 1;
const DEFAULT_CAPACITY_BYTES = 1024 * 1024;
/**
 * Lines are buffered for this long or up to this many bytes. A pipe takes this many bytes in one piece, so lines of
 * other logs are not mixed in.
 */
const FLUSH_MS = 1_000;
const WRITE_BYTES = 4096;

/**
 * Logs one of every n answered queries. Writing is asynchronous: when the reader of the log is too slow, lines are
 * dropped and counted, and no query waits.
 */
export class QueryLog {
  /** Queries selected for the log, and those whose line was dropped. */
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
    // For example, the reader has gone. The log itself cannot report that.
    this.destination.on('error', () => {
      this.isBroken = true;
    });
    this.log = createLogger({ name: 'resolver', level: 'info' }, this.destination);
  }

  /** Whether to log the current query: one in every n. Counts the queries. */
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

  /** Writes what is still buffered. */
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

  /**
   * The name, or the hash that the management API uses for it. Neither for a query that the policy did not see; no hash
   * for a name without one.
   */
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
