import {
  ChangePublisher,
  createFeedServer,
  type FeedLogger,
  type FeedSource,
  type LogPage,
  type SnapshotPart,
  type StoredBytes,
} from '@weir/change-feed';
import type { CompiledCatalogue } from '@weir/catalogue';
import { Digest, type Head, toRow } from '@weir/config-model';
import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import type { Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { Readable } from 'node:stream';
import { setImmediate } from 'node:timers/promises';
import { partsOf, type Rows } from './configuration.js';

const REVISION = 1;
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
    this.server = createFeedServer({ source: this, tokens, log: LOG, isOutage: () => false });
  }

  async start(): Promise<void> {
    await once(this.server.listen(0, '127.0.0.1'), 'listening');
    await this.publisher.start();
  }

  get url(): string {
    return `http://127.0.0.1:${(this.server.address() as AddressInfo).port}`;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.publisher.stop();
    const closed = once(this.server.close(), 'close');
    this.server.closeAllConnections();
    await closed;
  }

  /** There are no changes. Null: whoever is behind needs the snapshot. */
  changesAfter(revision: number): Promise<LogPage> {
    const changes = revision < REVISION ? null : [];
    return Promise.resolve({ head: this.head(), changes });
  }

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

  private head(): Head {
    return { lineage: this.lineage, revision: REVISION, digest: this.digest.toString() };
  }
}
