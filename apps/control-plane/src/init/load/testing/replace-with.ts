import { parseHashKey } from '@weir/dns-name';
import type pg from 'pg';
import { DomainHasher } from '../../../resources/domain-lists/domain-hasher.js';
import type { Replacement } from '../../../revisions/configuration-writer.js';
import { HASH_KEY } from '../../../testing/harness.js';
import { findDraftFaults } from '../../check/draft-faults.js';
import { FaultList } from '../../read/fault-list.js';
import { readInit } from '../../read/init-reader.js';
import { digestOfDraft } from '../draft-digest.js';
import { replaceConfiguration } from '../replace-configuration.js';

const APPLICATIONS = new Map([0, 1, 2].map((id) => [id, `application ${id}`]));

/** Replaces the configuration with a body as POST /init/ does, in a transaction of its own. */
export async function replaceWith(client: pg.Client, body: object): Promise<Replacement> {
  const bytes = (async function* () {
    await Promise.resolve();
    yield Buffer.from(JSON.stringify(body));
  })();
  const draft = await readInit(bytes, new DomainHasher(parseHashKey(HASH_KEY)));
  const faults = new FaultList();
  await findDraftFaults(draft, APPLICATIONS, faults);
  faults.throwIfAny();
  const digest = await digestOfDraft(draft);
  await client.query('BEGIN');
  const replacement = await replaceConfiguration(client as unknown as pg.PoolClient, draft, digest);
  await client.query('COMMIT');
  return replacement;
}
