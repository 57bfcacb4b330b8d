import { encodeChange } from '@weir/config-model';
import type { ClientBase } from 'pg';
import {
  ACTIVE_APPLICATIONS,
  type CatalogueMetadata,
} from '../../catalogue/store/catalogue-store.js';
import { FaultList } from '../../http/validation/fault.js';
import { headOf } from '../../platform/database/snapshot.js';
import {
  type ActiveApplications,
  namesOf,
} from '../../resources/applications/active-applications.js';
import type { DomainHasher } from '../../resources/domain-lists/domain-check.js';
import { lockHead, logChanges, toLogEntries } from '../../revisions/change-log.js';
import { type Author, EVERY_PROFILE } from '../../revisions/change-record.js';
import type { UncommittedChange } from '../../revisions/configuration-writer.js';
import { Deadline } from '../../revisions/write-queue.js';
import { findDraftFaults } from '../check/draft-faults.js';
import { digestOfDraft, type Draft } from '../draft/draft.js';
import { compareConfiguration } from '../load/dry-run.js';
import { replaceConfiguration } from '../load/replace-configuration.js';
import { InitReader } from '../read/init-reader.js';
import type { DryRunDto } from '../read/init.dto.js';
import type { Steps } from './init-thread.js';

/** It may check millions of rows between two statements. */
const IDLE_IN_TRANSACTION_MS = 60_000;

/** A submitted configuration that was read and checked. */
interface CheckedDraft {
  readonly draft: Draft;
  readonly digest: string;
  readonly checkedWith: ActiveApplications['head'];
}

/** Connects to PostgreSQL, for one transaction. */
type Connect = () => Promise<ClientBase & { end(): Promise<void> }>;

/** One body of POST /init/, from its first byte to the COMMIT, or to the result of a dry run. */
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

  load(author: Author, waitMs: number): Promise<UncommittedChange> {
    const deadline = new Deadline(waitMs);
    return this.begin((client, checked) => write(client, checked, author, deadline));
  }

  async compare(): Promise<DryRunDto> {
    const result = await this.begin(compare);
    await this.close();
    return result;
  }

  async commit(): Promise<void> {
    await this.client?.query('COMMIT');
    await this.close();
  }

  /** Begins the transaction. It ends when the work fails. */
  private async begin<T>(
    work: (client: ClientBase, checked: CheckedDraft) => Promise<T>,
  ): Promise<T> {
    if (this.checked === null) throw new Error('a body is checked first');
    this.client = await this.connect();
    try {
      return await work(this.client, this.checked);
    } catch (error) {
      await this.close();
      throw error;
    }
  }

  async close(): Promise<void> {
    // PostgreSQL rolls back what is open. A broken connection has nothing to end.
    await this.client?.end().catch(() => undefined);
    this.client = null;
  }
}

async function write(
  client: ClientBase,
  checked: CheckedDraft,
  author: Author,
  deadline: Deadline,
): Promise<UncommittedChange> {
  await client.query('BEGIN');
  const idleInTransactionMs = IDLE_IN_TRANSACTION_MS;
  const { head, transaction } = await lockHead(client, { deadline, idleInTransactionMs });
  await checkAgain(client, checked, head);
  const { lineage } = head;
  const replaced = await replaceConfiguration(client, checked.draft, checked.digest);
  const { digest, operations, keys } = replaced;
  const encoded = encodeChange({ revision: head.revision + 1, digest, operations });
  const change = { lineage, ...encoded };
  await logChanges(client, toLogEntries([{ change, author, profiles: [EVERY_PROFILE], keys }]));
  return { change, transaction };
}

async function compare(client: ClientBase, checked: CheckedDraft): Promise<DryRunDto> {
  await client.query('BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY');
  const { rows } = await client.query<ActiveApplications['head'] & { revision: number }>(`
    SELECT lineage, revision::float8, catalogue_version::float8 AS "catalogueVersion" FROM config_head`);
  const head = headOf(rows);
  await checkAgain(client, checked, head);
  return { revision: head.revision, ...(await compareConfiguration(client, checked.draft)) };
}

/** Another catalogue may have come in force since the check. @throws InvalidRequestError */
async function checkAgain(
  client: ClientBase,
  { draft, checkedWith }: CheckedDraft,
  { lineage, catalogueVersion }: ActiveApplications['head'],
): Promise<void> {
  const isSame =
    lineage === checkedWith.lineage && catalogueVersion === checkedWith.catalogueVersion;
  if (isSame) return;
  const { rows } = await client.query<Pick<CatalogueMetadata, 'applications'>>(
    ACTIVE_APPLICATIONS.text,
  );
  findFaults(draft, namesOf(rows));
}

/** @throws InvalidRequestError */
function findFaults(draft: Draft, names: ActiveApplications['names']): void {
  const faults = new FaultList();
  findDraftFaults(draft, names, faults);
  faults.throwIfAny();
}
