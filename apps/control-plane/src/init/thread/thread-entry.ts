import { parentPort, workerData } from 'node:worker_threads';
import pg, { type ClientBase } from 'pg';
import {
  ACTIVE_APPLICATIONS,
  type CatalogueMetadata,
} from '../../catalogue/store/catalogue-store.js';
import { FaultList } from '../../http/validation/fault.js';
import {
  beginSession,
  connectionSettings,
  sessionQuestions,
} from '../../platform/database/connections.js';
import { headOf } from '../../platform/database/snapshot.js';
import {
  type ActiveApplications,
  namesOf,
} from '../../resources/applications/active-applications.js';
import { DomainHasher } from '../../resources/domain-lists/domain-check.js';
import { lockHead, logChanges } from '../../revisions/change-log.js';
import { type Author, replaced } from '../../revisions/change-record.js';
import type { Replacement } from '../../revisions/configuration-writer.js';
import { Deadline } from '../../revisions/write-queue.js';
import { findDraftFaults } from '../check/draft-faults.js';
import { digestOfDraft, type Draft } from '../draft/draft.js';
import { compareConfiguration } from '../load/dry-run.js';
import { replaceConfiguration } from '../load/replace-configuration.js';
import { InitReader } from '../read/init-reader.js';
import type { DryRunDto } from '../read/init.dto.js';
import {
  type Reply,
  type Request,
  type Steps,
  type ThreadSettings,
  toFailure,
} from './init-thread.js';

/** One statement of a replacement writes millions of rows. */
const LONGEST_SILENCE_MS = 300_000;
/** It may check millions of rows between two statements. */
const IDLE_IN_TRANSACTION_MS = 60_000;

const { databaseUrl, hashKey } = workerData as ThreadSettings;
const settings = connectionSettings(databaseUrl);
const ask = sessionQuestions(settings);
const hasher = new DomainHasher(hashKey);
const bodies = new Map<number, InitBody>();

/** A submitted configuration that was read and checked. */
interface CheckedDraft {
  readonly draft: Draft;
  readonly digest: string;
  readonly checkedWith: ActiveApplications['head'];
}

/** Connects to PostgreSQL, for one transaction. */
async function connect(): Promise<pg.Client> {
  const client = new pg.Client(settings);
  // The next query reports it.
  client.on('error', () => undefined);
  await client.connect();
  try {
    await beginSession(client, ask, LONGEST_SILENCE_MS);
  } catch (error) {
    client.end().catch(() => undefined);
    throw error;
  }
  return client;
}

/** One body of POST /init/, from its first byte to the COMMIT, or to the result of a dry run. */
class InitBody implements Steps {
  private readonly reader = new InitReader(hasher);
  private checked: CheckedDraft | null = null;
  private client: pg.Client | null = null;

  push(bytes: Uint8Array): boolean {
    this.reader.push(bytes);
    return this.reader.goesOn;
  }

  check({ head, names }: ActiveApplications): void {
    const draft = this.reader.end();
    findFaults(draft, names);
    this.checked = { draft, digest: digestOfDraft(draft), checkedWith: head };
  }

  load(author: Author, waitMs: number): ReturnType<Replacement['load']> {
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
    this.client = await connect();
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
): ReturnType<Replacement['load']> {
  await client.query('BEGIN');
  const idleInTransactionMs = IDLE_IN_TRANSACTION_MS;
  const { head, transaction } = await lockHead(client, { deadline, idleInTransactionMs });
  await checkAgain(client, checked, head);
  const difference = await replaceConfiguration(client, checked.draft, checked.digest);
  const made = replaced(head, difference, { author, trace: null }, difference.keys);
  await logChanges(client, [made]);
  return { change: made.change, transaction };
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

async function handle({ body, step, values }: Request): Promise<unknown> {
  const initBody = bodies.get(body) ?? new InitBody();
  if (step === 'close') bodies.delete(body);
  else bodies.set(body, initBody);
  const method = initBody[step] as (...values: readonly unknown[]) => unknown;
  return await method.apply(initBody, [...values]);
}

parentPort?.on('message', (request: Request) => {
  const { call } = request;
  const reply = (one: Reply): void => parentPort?.postMessage(one);
  handle(request).then(
    (result) => reply({ call, result }),
    (error: unknown) => reply({ call, failure: toFailure(error) }),
  );
});
