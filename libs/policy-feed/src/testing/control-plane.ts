import { writeDelta } from '@weir/catalogue';
import {
  ChangePublisher,
  createFeedServer,
  feedDownloads,
  type FeedSource,
  type ImageDelta,
  DeltaCache,
  type LogPage,
  toLoggedChange,
  type SnapshotPart,
  type StoredBytes,
} from '@weir/change-feed';
import {
  type Change,
  type DeleteOperation,
  Digest,
  encodeChange,
  ENTITY_KINDS,
  type EntityKind,
  type Head,
  type Operation,
  type PutOperation,
  type Row,
  toKeyRow,
  toRow,
} from '@weir/config-model';
import { DEPLOYMENT_VARIABLES, hasToken, openDeployment, parseVariables } from '@weir/ops';
import { randomUUID } from 'node:crypto';
import type { Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { Readable } from 'node:stream';
import { FEED_VARIABLES } from '../variables.js';
import { HASH_KEY_HEX } from './policies.js';

export const FEED_TOKEN = 'token-of-the-test-feed';

const DEPLOYMENT = parseVariables(
  { ...DEPLOYMENT_VARIABLES, DOMAIN_HASH_KEY: FEED_VARIABLES.DOMAIN_HASH_KEY },
  { FEED_TOKENS: FEED_TOKEN, DOMAIN_HASH_KEY: HASH_KEY_HEX },
);
/** Ends a wait that hangs. A resolver that was killed is waited for only until its lease has ended. */
const WAIT_MS = 60_000;

const silent = { info: () => undefined, warn: () => undefined, error: () => undefined };

/** The control plane's end of the change feed with its log in memory: real feed API, real Redis. */
export class ControlPlane implements FeedSource {
  readonly images = new Map<string, Uint8Array>();
  /** By sha256: when the bytes of an image are sent. */
  readonly slowImages = new Map<string, Promise<unknown>>();
  readonly downloads = feedDownloads(64);
  /** What is sent in the place of the next deltas; undefined: the right ones. */
  wrongDelta: Uint8Array | undefined;
  readonly deltas = new DeltaCache({
    folder: tmpdir(),
    source: this,
    log: silent,
    isOutage: () => false,
  });
  private readonly lineage = randomUUID();
  private readonly rows = new Map<string, { kind: EntityKind; row: Row }>();
  private readonly digest = new Digest();
  private readonly changes: Change[] = [];
  private readonly publisher: ChangePublisher;
  private server!: Server;

  private constructor(redisUrl: string) {
    this.publisher = new ChangePublisher({
      redisUrl,
      deployment: openDeployment(DEPLOYMENT, silent),
      readHead: () => this.head(),
      log: silent,
    });
  }

  static async start(redisUrl: string): Promise<ControlPlane> {
    const plane = new ControlPlane(redisUrl);
    plane.server = createFeedServer({
      source: plane,
      isAuthorised: (authorization) => hasToken(authorization, [FEED_TOKEN]),
      log: silent,
      isOutage: () => false,
      deltas: plane.deltas,
      downloads: plane.downloads,
    });
    await new Promise<void>((resolve) => plane.server.listen(0, '127.0.0.1', resolve));
    await plane.publisher.start();
    return plane;
  }

  get feedUrl(): string {
    return `http://127.0.0.1:${(this.server.address() as AddressInfo).port}`;
  }

  /** Commits a change, publishes it and waits until every live resolver has it. */
  async commit(...operations: readonly (PutOperation | DeleteOperation)[]) {
    for (const operation of operations) this.apply(operation);
    return this.append(operations);
  }

  /** Commits `operations`, and publishes `published` in their place: a message that was damaged. */
  async misinform(operations: readonly PutOperation[], published: readonly PutOperation[]) {
    for (const operation of operations) this.apply(operation);
    return this.append(operations, published);
  }

  /** Replaces the whole configuration, as `POST /init/` does. */
  async replace(...operations: readonly PutOperation[]) {
    for (const { kind, row } of this.rows.values()) this.digest.remove(kind, row);
    this.rows.clear();
    for (const operation of operations) this.apply(operation);
    return this.append([{ type: 'reload' }]);
  }

  async stop(): Promise<void> {
    await this.publisher.stop();
    this.server.closeAllConnections();
    await new Promise((resolve) => this.server.close(resolve));
    this.deltas.close();
  }

  head(): Promise<Head> {
    const { lineage, changes, digest } = this;
    return Promise.resolve({ lineage, revision: changes.length, digest: digest.toString() });
  }

  async changesAfter(revision: number, limit: number): Promise<LogPage> {
    const changes = this.changes.slice(revision, revision + limit).map(toLoggedChange);
    return { head: await this.head(), changes };
  }

  async *snapshot(): AsyncGenerator<SnapshotPart> {
    yield { type: 'head', ...(await this.head()) };
    for (const kind of ENTITY_KINDS) {
      const rows = [...this.rows.values()].filter((one) => one.kind === kind).map((one) => one.row);
      for (let i = 0; i < rows.length; i += 1000) {
        yield { type: 'rows', kind, rows: rows.slice(i, i + 1000) };
      }
    }
  }

  catalogueImage(sha256: string): Promise<StoredBytes | null> {
    const image = this.images.get(sha256);
    if (image === undefined) return Promise.resolve(null);
    const slow = this.slowImages.get(sha256);
    async function* bytes(start: number, end: number): AsyncGenerator<Uint8Array> {
      await slow;
      yield image!.subarray(start, end);
    }
    const read = (start: number, end: number) => Readable.from(bytes(start, end));
    return Promise.resolve({ sizeBytes: image.length, read });
  }

  async imageDelta(baseSha256: string, sha256: string): Promise<ImageDelta | null> {
    const base = await this.catalogueImage(baseSha256);
    const image = base && (await this.catalogueImage(sha256));
    if (image === null) return null;
    const wrong = this.wrongDelta;
    const bytes = wrong === undefined ? writeDelta(base!, image) : Readable.from([wrong]);
    return { baseBytes: base!.sizeBytes, bytes };
  }

  private apply(operation: PutOperation | DeleteOperation): void {
    const { kind } = operation;
    const key = operation.type === 'put' ? operation.entity : operation.key;
    const id = `${kind} ${toKeyRow(kind, key as never).join()}`;
    const before = this.rows.get(id);
    if (before) this.digest.remove(kind, before.row);
    this.rows.delete(id);
    if (operation.type === 'delete') return;
    const row = toRow(kind, operation.entity as never);
    this.digest.add(kind, row);
    this.rows.set(id, { kind, row });
  }

  private async append(operations: readonly Operation[], published = operations) {
    const revision = this.changes.length + 1;
    const change = { revision, digest: this.digest.toString(), operations };
    this.changes.push(change);
    const { lineage } = this;
    await this.publisher.publish([
      { lineage, ...encodeChange({ ...change, operations: published }) },
    ]);
    return this.publisher.waitApplied({ lineage, revision }, WAIT_MS);
  }
}
