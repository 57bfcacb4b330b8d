import { parseHashKey } from '@weir/dns-name';
import type pg from 'pg';
import { FaultList } from '../../../http/validation/fault.js';
import { DomainHasher } from '../../../resources/domain-lists/domain-check.js';
import { HASH_KEY } from '../../../testing/harness.js';
import { findDraftFaults } from '../../check/draft-faults.js';
import { digestOfDraft, type Draft } from '../../draft/draft.js';
import { InitReader } from '../../read/init-reader.js';
import { compareConfiguration } from '../dry-run.js';
import { replaceConfiguration } from '../replace-configuration.js';

const APPLICATIONS = new Map([0, 1, 2].map((id) => [id, `application ${id}`]));

function toDraft(body: object): Draft {
  const reader = new InitReader(new DomainHasher(parseHashKey(HASH_KEY)));
  reader.push(Buffer.from(JSON.stringify(body)));
  const draft = reader.end();
  const faults = new FaultList();
  findDraftFaults(draft, APPLICATIONS, faults);
  faults.throwIfAny();
  return draft;
}

/** Replaces the configuration with a body as POST /init/ does, in a transaction of its own. */
export async function replaceWith(
  client: pg.Client,
  body: object,
): ReturnType<typeof replaceConfiguration> {
  const draft = toDraft(body);
  const digest = digestOfDraft(draft);
  await client.query('BEGIN');
  const replacement = await replaceConfiguration(client, draft, digest);
  await client.query('COMMIT');
  return replacement;
}

/** What a dry run says of a body, without the revision. */
export async function dryRunOf(
  client: pg.Client,
  body: object,
): ReturnType<typeof compareConfiguration> {
  await client.query('BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY');
  const compared = await compareConfiguration(client, toDraft(body));
  await client.query('COMMIT');
  return compared;
}
