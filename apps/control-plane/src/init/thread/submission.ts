import { encodeChange } from '@weir/config-model';
import type { ClientBase } from 'pg';
import {
  ACTIVE_APPLICATIONS,
  type CatalogueMetadata,
} from '../../catalogue/store/catalogue-store.js';
import {
  type ActiveApplications,
  namesOf,
} from '../../resources/applications/active-catalogue-reader.js';
import type { DomainHasher } from '../../resources/domain-lists/domain-check.js';
import type { Author } from '../../revisions/author.js';
import { lockHead, logChanges, toLogEntries } from '../../revisions/change-log.js';
import { ALL_PROFILES } from '../../revisions/change-record.js';
import { Deadline } from '../../revisions/write-queue.js';
import { findDraftFaults } from '../check/draft-faults.js';
import type { Draft } from '../draft/draft.js';
import { digestOfDraft } from '../load/draft-digest.js';
import { replaceConfiguration } from '../load/replace-configuration.js';
import { FaultList } from '../read/fault-list.js';
import { InitReader } from '../read/init-reader.js';
import type { LoadedChange, Steps } from './messages.js';

/** It may check millions of rows between two statements. */
const IDLE_IN_TRANSACTION_MS = 60_000;

/** A submitted configuration that was read and checked. */
interface CheckedDraft {
  readonly draft: Draft;
  readonly digest: string;
  readonly checkedWith: ActiveApplications['head'];
}

/** Connects to PostgreSQL, for one transaction. */
export type Connect = () => Promise<ClientBase & { end(): Promise<void> }>;

/** One body of POST /init/, from its first byte to the COMMIT. */
export class Submission implements Steps {
  private readonly reader: InitReader;
  private checked: CheckedDraft | null = null;
  private client: Awaited<ReturnType<Connect>> | null = null;

  constructor(
    hasher: DomainHasher,
    private readonly connect: Connect,
  ) {
    this.reader = new InitReader(hasher);
  }

  push(bytes: Uint8Array): boolean {
    this.reader.push(bytes);
    return this.reader.goesOn;
  }

  check({ head, names }: ActiveApplications): void {
    const draft = this.reader.end();
    findFaults(draft, names);
    this.checked = { draft, digest: digestOfDraft(draft), checkedWith: head };
  }

  async load(author: Author, waitMs: number): Promise<LoadedChange> {
    if (this.checked === null) throw new Error('a body is checked before it is loaded');
    const deadline = new Deadline(waitMs);
    this.client = await this.connect();
    try {
      return await write(this.client, this.checked, author, deadline);
    } catch (error) {
      await this.close();
      throw error;
    }
  }

  async commit(): Promise<void> {
    await this.client?.query('COMMIT');
    await this.close();
  }

  async close(): Promise<void> {
    // PostgreSQL rolls back what is open. A broken connection has nothing to end.
    await this.client?.end().catch(() => undefined);
    this.client = null;
  }
}

async function write(
  client: ClientBase,
  { draft, digest: draftDigest, checkedWith }: CheckedDraft,
  author: Author,
  deadline: Deadline,
): Promise<LoadedChange> {
  await client.query('BEGIN');
  const idleInTransactionMs = IDLE_IN_TRANSACTION_MS;
  const { head, transaction } = await lockHead(client, { deadline, idleInTransactionMs });
  const { lineage, catalogueVersion } = head;
  const isSame =
    lineage === checkedWith.lineage && catalogueVersion === checkedWith.catalogueVersion;
  if (!isSame) findFaults(draft, await readNames(client));
  const { digest, operations } = await replaceConfiguration(client, draft, draftDigest);
  const encoded = encodeChange({ revision: head.revision + 1, digest, operations });
  const change = { lineage, ...encoded };
  await logChanges(client, toLogEntries([{ change, author, profiles: ALL_PROFILES }]));
  return { change, transaction };
}

/** @throws InvalidRequestError */
function findFaults(draft: Draft, names: ActiveApplications['names']): void {
  const faults = new FaultList();
  findDraftFaults(draft, names, faults);
  faults.throwIfAny();
}

async function readNames(client: ClientBase): Promise<ActiveApplications['names']> {
  const { rows } = await client.query<Pick<CatalogueMetadata, 'applications'>>(
    ACTIVE_APPLICATIONS.text,
  );
  return namesOf(rows[0]?.applications ?? []);
}
