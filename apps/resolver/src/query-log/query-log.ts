import { cutHash } from '@weir/dns-name';
import { HEADER_BYTES, formatName } from '@weir/dns-wire';
import { createLogger } from '@weir/ops';
import type { DnsConfiguration } from '../configuration.js';
import { LogCount, type LogCounts } from '../metrics/log-counts.js';
import { type AnswerSource, SOURCES } from '../metrics/query-timer.js';
import { NO_VERDICT, queryLabels } from '../metrics/query-counters.js';
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
  /** Whether a secret category has decided (decisions §14). Then neither the name nor its hash is logged. */
  readonly isSecret?: boolean;
  /** Time on the clock of `Exchange.startedMs`. */
  readonly nowMs: number;
}

/** Writes that many whole lines. @returns false: they are dropped */
export type WriteLines = (lines: string, count: number) => boolean;

export interface QueryLogOptions {
  /** One query in this many is logged; 1: every query. */
  readonly sampling: number;
  /** Whether the log contains names. Otherwise it contains their keyed hashes. */
  readonly showNames: boolean;
  readonly write: WriteLines;
  readonly counts: LogCounts;
}

/** Lines are collected for this long or up to about this many bytes, and written as one piece. */
const FLUSH_MS = 1_000;
const PIECE_BYTES = 4096;

/** Logs one of every n answered queries. When the reader of the log is too slow, lines are dropped; no query waits. */
export class QueryLog {
  private readonly log = createLogger(
    { name: 'resolver', level: 'info' },
    { write: (line) => this.add(line) },
  );
  private untilSample = 1;
  private piece = '';
  private pieceLines = 0;
  private flushing: NodeJS.Timeout | undefined;

  constructor(private readonly options: QueryLogOptions) {}

  /** Whether to log the current query: one in every n. Counts the queries. */
  takeSample(): boolean {
    if (--this.untilSample > 0) return false;
    this.untilSample = this.options.sampling;
    return true;
  }

  write(exchange: Exchange, answer: QueryLogEntry): void {
    const { transport } = exchange.replyPath;
    const { qtype } = exchange.query;
    const labels = queryLabels(transport, qtype, answer.verdict, answer.reason, answer.rcode);
    this.log.info(
      {
        ...this.nameOf(exchange, answer),
        ...labels,
        type: labels.type === 'other' ? typeLabel(qtype) : labels.type,
        source: SOURCES[answer.source],
        ...(answer.verdict !== NO_VERDICT &&
          answer.profileId >= 0 && { profile: answer.profileId }),
        ...(exchange.startedMs !== 0 && { ms: Math.round(answer.nowMs - exchange.startedMs) }),
      },
      'query',
    );
  }

  flush(): void {
    clearTimeout(this.flushing);
    this.flushing = undefined;
    if (this.pieceLines === 0) return;
    this.writeLines(this.piece, this.pieceLines);
    this.piece = '';
    this.pieceLines = 0;
  }

  /** Writes that many whole lines, of this thread or of another one. */
  writeLines(lines: string, count: number): void {
    const { write, counts } = this.options;
    if (!write(lines, count)) counts.count(LogCount.lostLines, count);
  }

  private add(line: string): void {
    this.piece += line;
    this.pieceLines++;
    if (this.piece.length >= PIECE_BYTES) this.flush();
    else this.flushing ??= setTimeout(() => this.flush(), FLUSH_MS).unref();
  }

  /**
   * The name, or the hash that the management API uses for it. Neither for a query that the policy did not see, or that
   * a secret category has decided; no hash for a name without one.
   */
  private nameOf(
    { bytes, nameHashLow, nameHashHigh }: Exchange,
    { verdict, isSecret }: QueryLogEntry,
  ): { name: string } | { nameHash: number } | null {
    if (verdict === NO_VERDICT || isSecret === true) return null;
    if (this.options.showNames) return { name: formatName(bytes, HEADER_BYTES) };
    const isKnown = nameHashLow !== 0 || nameHashHigh !== 0;
    return isKnown ? { nameHash: cutHash(nameHashLow >>> 0, nameHashHigh >>> 0) } : null;
  }
}

/** 0: there was no usable question. */
function typeLabel(qtype: number): string {
  return qtype === 0 ? 'none' : `TYPE${qtype}`;
}

/** @returns null when the log is off. */
export function openQueryLog(
  configuration: Pick<DnsConfiguration, 'QUERY_LOG_NAMES' | 'QUERY_LOG_SAMPLING'>,
  write: WriteLines,
  counts: LogCounts,
): QueryLog | null {
  const { QUERY_LOG_SAMPLING: sampling, QUERY_LOG_NAMES: showNames } = configuration;
  return sampling === 0 ? null : new QueryLog({ sampling, showNames, write, counts });
}
