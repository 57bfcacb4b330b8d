import { setTimeout as sleep } from 'node:timers/promises';
import type { Deployment } from '../deployment/deployment.js';
import { readHead, renewCatalogue, withDatabase } from './database.js';

/** How long a control plane may take to compile and activate a catalogue before the fault goes on without it. */
const ACTIVATION_DEADLINE_MS = 8_000;
/** For each piece of a response of the feed. */
const DELAY_MS = 500;

/** What becomes of the pieces of an image as they are written: one byte of each differs, or there are none. */
const TRIGGERS = {
  bad: 'NEW.bytes := set_byte(NEW.bytes, 0, 255 - get_byte(NEW.bytes, 0)); RETURN NEW;',
  // Each replica stores an image of which it finds no piece.
  missing: 'INSERT INTO weir_lost_piece VALUES (NEW.*) ON CONFLICT DO NOTHING; RETURN NULL;',
} as const;

const REPAIRS = {
  bad: 'UPDATE catalogue_image_piece SET bytes = set_byte(bytes, 0, 255 - get_byte(bytes, 0)) WHERE version > $1',
  // Old images are deleted meanwhile.
  missing: `INSERT INTO catalogue_image_piece SELECT weir_lost_piece.*
            FROM weir_lost_piece JOIN catalogue_image USING (version) WHERE version > $1`,
} as const;

/** Activates a catalogue whose image cannot be had for a while, or only slowly. Changes must go on meanwhile. */
export async function breakImage(
  deployment: Deployment,
  kind: 'bad' | 'missing' | 'slow',
  durationMs: number,
): Promise<void> {
  if (kind === 'slow') {
    deployment.feedProxy.delayMs = DELAY_MS;
    deployment.catalogue.renew();
    await sleep(ACTIVATION_DEADLINE_MS);
    deployment.feedProxy.delayMs = 0;
    return;
  }
  await withDatabase(deployment, async (client) => {
    await client.query(
      'CREATE TABLE weir_lost_piece (LIKE catalogue_image_piece INCLUDING INDEXES)',
    );
    await client.query(`
      CREATE OR REPLACE FUNCTION weir_break_piece() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN ${TRIGGERS[kind]} END $$`);
    await client.query(`
      CREATE OR REPLACE TRIGGER weir_break_piece BEFORE INSERT ON catalogue_image_piece
      FOR EACH ROW EXECUTE FUNCTION weir_break_piece()`);
    const { catalogue } = await readHead(client);
    await renewCatalogue(deployment, ACTIVATION_DEADLINE_MS);
    await sleep(durationMs);
    await client.query('BEGIN');
    await client.query('DROP TRIGGER weir_break_piece ON catalogue_image_piece');
    await client.query(REPAIRS[kind], [catalogue]);
    await client.query('DROP TABLE weir_lost_piece');
    await client.query('COMMIT');
  });
}
