import {
  type Applied,
  ChangePublisher,
  createFeedServer,
  type FeedLogger,
  type FeedSource,
  type LogPage,
  type SnapshotPart,
  type StoredBytes,
  toLoggedChange,
} from '@weir/change-feed';
import type { CompiledCatalogue } from '@weir/catalogue';
import {
  type Change,
  Digest,
  encodeChange,
  fromRow,
  type Head,
  type Operation,
  type Row,
  toRow,
} from '@weir/config-model';
import { randomUUID } from 'node:crypto';
import type { Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { Readable } from 'node:stream';
import { setImmediate, setTimeout as sleep } from 'node:timers/promises';
import { partsOf, type Rows } from './configuration.js';

const FIRST_REVISION = 1;
const POLL_MS = 50;
const APPLIED_DEADLINE_MS = 30_000;
const loud = (fields: object, text: string): void => {
  process.stderr.write(`feed: ${text} ${JSON.stringify(fields)}\n`);
};
const LOG: FeedLogger = { info: () => undefined, warn: loud, error: loud };

/**
 * The control plane's end of the change feed, with a configuration that is generated while it is sent: real feed API,
 * real Redis, no database.
 */
export class GeneratedFeed implements FeedSource {
  private readonly lineage = randomUUID();
  private readonly digest = new Digest();
  private readonly changes: Change[] = [];
  private readonly publisher: ChangePublisher;
  private readonly server: Server;
  private readonly rows: Rows;

  private constructor(
    redisUrl: string,
    /** Token of the feed API, and id of the deployment: it keeps feeds apart that share a Redis. */
    readonly token: string,
    rows: Rows,
    private readonly catalogue: CompiledCatalogue,
  ) {
    const { sha256, image } = catalogue;
    const catalogueRow = toRow('catalogue', { version: 1, sha256, sizeBytes: image.length });
    this.rows = { ...rows, catalogue: () => [catalogueRow] };
    this.publisher = new ChangePublisher({
      redisUrl,
      deployment: { id: token, tokens: () => [token] },
      readHead: () => Promise.resolve(this.head()),
      log: LOG,
    });
    this.server = createFeedServer({
      source: this,
      tokens: () => [token],
      log: LOG,
      isOutage: () => false,
    });
  }

  static async start(
    redisUrl: string,
    token: string,
    rows: Rows,
    catalogue: CompiledCatalogue,
  ): Promise<GeneratedFeed> {
    const feed = new GeneratedFeed(redisUrl, token, rows, catalogue);
    for (const { kind, rows: part } of partsOf(feed.rows))
      for (const row of part) feed.digest.add(kind, row);
    await new Promise<void>((resolve) => feed.server.listen(0, '127.0.0.1', resolve));
    await feed.publisher.start();
    return feed;
  }

  get url(): string {
    return `http://127.0.0.1:${(this.server.address() as AddressInfo).port}`;
  }

  /** Waits until a resolver has said that it follows. */
  async followed(): Promise<void> {
    while (this.publisher.followers().length === 0) await sleep(POLL_MS);
  }

  /** Commits a change to one domain rule, and waits until the resolvers have it in force. */
  async changeRule(type: 'put' | 'delete', row: Row): Promise<Applied> {
    const kind = 'domainRule';
    const entity = fromRow(kind, row);
    const operation: Operation =
      type === 'put' ? { type, kind, entity } : { type, kind, key: entity };
    if (type === 'put') this.digest.add(kind, row);
    else this.digest.remove(kind, row);
    const revision = FIRST_REVISION + this.changes.length + 1;
    const change = { revision, digest: this.digest.toString(), operations: [operation] };
    this.changes.push(change);
    const { lineage } = this;
    await this.publisher.publish([{ lineage, ...encodeChange(change) }]);
    return this.publisher.waitApplied({ lineage, revision }, APPLIED_DEADLINE_MS);
  }

  async stop(): Promise<void> {
    await this.publisher.stop();
    this.server.closeAllConnections();
    await new Promise((resolve) => this.server.close(resolve));
  }

  changesAfter(revision: number, limit: number): Promise<LogPage> {
    const from = revision - FIRST_REVISION;
    const page = from < 0 ? null : this.changes.slice(from, from + limit).map(toLoggedChange);
    return Promise.resolve({ head: this.head(), changes: page });
  }

  /** Without changes: each is undone before the next snapshot. */
  async *snapshot(): AsyncGenerator<SnapshotPart> {
    yield { type: 'head', ...this.head() };
    for (const part of partsOf(this.rows)) {
      yield { type: 'rows', ...part };
      // Heads are published meanwhile.
      await setImmediate();
    }
  }

  catalogueImage(sha256: string): Promise<StoredBytes | null> {
    const { image } = this.catalogue;
    if (sha256 !== this.catalogue.sha256) return Promise.resolve(null);
    const read = (start: number, end: number): Readable =>
      Readable.from([image.subarray(start, end)]);
    return Promise.resolve({ sizeBytes: image.length, read });
  }

  private head(): Head {
    const revision = FIRST_REVISION + this.changes.length;
    return { lineage: this.lineage, revision, digest: this.digest.toString() };
  }
}
