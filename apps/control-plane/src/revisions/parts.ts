import type { ClientBase, Pool } from 'pg';
import type { Transaction } from '../platform/database/transaction.js';
import { withConnection } from '../platform/database/with-connection.js';
import type { Deadline } from './deadline.js';

/**
 * Rows that only one change may touch at a time, when it is a large one. It locks its part before it reads, long before
 * it locks the head. The two numbers are the key of an advisory lock of PostgreSQL, which holds for all replicas.
 *
 * Locks are taken in this order: the whole, a part, the head. Whoever holds the head only tries to lock a part, and
 * never waits for it. So no two changes wait for each other.
 */
export interface Part {
  readonly kind: number;
  readonly id: number;
}

/** Everything. Who locks a part shares it. */
const WHOLE: Part = { kind: 0, id: 0 };
/** All NAPT ranges: they must not overlap, whichever profile they belong to. */
export const NAPT_RANGES: Part = { kind: 1, id: 0 };

export function domainRulesOf(profileId: number): Part {
  return { kind: 2, id: profileId };
}

export function partText({ kind, id }: Part): string {
  return `${kind} ${id}`;
}

const LOCK = 'SELECT pg_advisory_xact_lock($1, $2)';
const SHARE = 'SELECT pg_advisory_xact_lock_shared($1, $2)';

/**
 * Later waits for locks have an end (`55P03`), unless the operator has set an earlier one. When the client is stopped
 * or cut off, PostgreSQL ends the transaction (`25P03`).
 */
const LIMIT_WAITS = `
  SELECT set_config('idle_in_transaction_session_timeout', '60s', true),
         CASE WHEN current_setting('lock_timeout') = '0'
                OR current_setting('lock_timeout')::interval > $1::text::interval
         THEN set_config('lock_timeout', $1::text, true) END`;

function limitWaits(client: ClientBase, { leftMs }: Deadline): Promise<unknown> {
  return client.query(LIMIT_WAITS, [`${leftMs}ms`]);
}

/** Locks a part until the transaction ends. @throws the error of PostgreSQL (`55P03`) when others keep it too long. */
export async function lockPart(client: ClientBase, part: Part, deadline: Deadline): Promise<void> {
  await limitWaits(client, deadline);
  await client.query(SHARE, [WHOLE.kind, WHOLE.id]);
  await limitWaits(client, deadline);
  await client.query(LOCK, [part.kind, part.id]);
}

/** Locks all parts until the transaction ends. @throws as `lockPart` does. */
export async function lockAllParts(client: ClientBase, deadline: Deadline): Promise<void> {
  await limitWaits(client, deadline);
  await client.query(LOCK, [WHOLE.kind, WHOLE.id]);
}

/** Waits until nobody keeps the part any more. @throws as `lockPart` does. */
export function waitForPart(pool: Pool, part: Part, deadline: Deadline): Promise<void> {
  return withConnection(pool, async (client) => {
    await client.query('BEGIN');
    await limitWaits(client, deadline);
    await client.query(SHARE, [part.kind, part.id]);
    await client.query('COMMIT');
  });
}

/**
 * Keeps large changes away from these parts until the transaction ends. It does not wait.
 * @returns the parts that a large change keeps now, as text.
 */
export async function shareParts(
  tx: Transaction,
  parts: readonly Part[],
): Promise<ReadonlySet<string>> {
  if (parts.length === 0) return new Set();
  const distinct = [...new Map(parts.map((part) => [partText(part), part])).values()];
  const refused = await tx.$queryRaw<Part[]>`
    SELECT kind, id FROM unnest(
      ${distinct.map(({ kind }) => kind)}::integer[], ${distinct.map(({ id }) => id)}::integer[]
    ) AS part (kind, id) WHERE NOT pg_try_advisory_xact_lock_shared(kind, id)`;
  return new Set(refused.map(partText));
}
