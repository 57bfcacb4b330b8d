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
import { hasToken } from '@weir/ops';
import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
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
export class GeneratedFeed implements FeedSource, AsyncDisposable {
  private readonly lineage = randomUUID();
  private readonly digest = new Digest();
  private readonly changes: Change[] = [];
  private readonly publisher: ChangePublisher;
  private readonly server: Server;
  private readonly rows: Rows;

  /** @param token of the feed API, and id of the deployment: it keeps feeds apart that share a Redis */
  constructor(
    redisUrl: string,
    token: string,
    rows: Rows,
    private readonly catalogue: CompiledCatalogue,
  ) {
    const { sha256, image } = catalogue;
    const catalogueRow = toRow('catalogue', { version: 1, sha256, sizeBytes: image.length });
    this.rows = { ...rows, catalogue: () => [catalogueRow] };
    for (const { kind, rows: part } of partsOf(this.rows))
      for (const row of part) this.digest.add(kind, row);
    const [tokens, readHead] = [() => [token], () => Promise.resolve(this.head())];
    const deployment = { id: token, tokens };
    this.publisher = new ChangePublisher({ redisUrl, deployment, readHead, log: LOG });
    this.server = createFeedServer({
      source: this,
      isAuthorised: (authorization) => hasToken(authorization, tokens()),
      log: LOG,
      isOutage: () => false,
    });
  }

  async start(): Promise<void> {
    await once(this.server.listen(0, '127.0.0.1'), 'listening');
    await this.publisher.start();
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
    if (type === 'put') this.digest.add(kind, row);
    else this.digest.remove(kind, row);
    const { lineage, revision, digest } = this.head(1);
    const operation: Operation =
      type === 'put' ? { type, kind, entity } : { type, kind, key: entity };
    const change = { revision, digest, operations: [operation] };
    this.changes.push(change);
    await this.publisher.publish([{ lineage, ...encodeChange(change) }]);
    return this.publisher.waitApplied({ lineage, revision }, APPLIED_DEADLINE_MS);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.publisher.stop();
    const closed = once(this.server.close(), 'close');
    this.server.closeAllConnections();
    await closed;
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
    const { image, sha256: known } = this.catalogue;
    const read = (start: number, end: number) => Readable.from([image.subarray(start, end)]);
    return Promise.resolve(sha256 === known ? { sizeBytes: image.length, read } : null);
  }

  /** @param ahead how many changes from now */
  private head(ahead = 0): Head {
    const revision = FIRST_REVISION + this.changes.length + ahead;
    return { lineage: this.lineage, revision, digest: this.digest.toString() };
  }
}
