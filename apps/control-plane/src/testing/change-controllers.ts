import { parseHashKey } from '@weir/dns-name';
import pg from 'pg';
import { pino } from 'pino';
import { Database } from '../platform/database/database.js';
import { ApplicationRulesController } from '../resources/application-rules/application-rules.js';
import { BlockPagesController } from '../resources/block-pages/block-pages.js';
import { DomainHasher } from '../resources/domain-lists/domain-check.js';
import { DomainListsController } from '../resources/domain-lists/domain-lists.js';
import { GrantsController } from '../resources/grants/grants.js';
import { NaptController } from '../resources/networks/napt/napt.js';
import {
  Ipv4NetworksController,
  Ipv6NetworksController,
} from '../resources/networks/prefixes/networks.js';
import { OrdersController } from '../resources/orders/orders.js';
import { ProfilesController } from '../resources/profiles/profiles.js';
import { SchedulesController } from '../resources/schedules/schedules.js';
import { ConfigurationReader } from '../revisions/configuration-reader.js';
import { ConfigurationWriter } from '../revisions/configuration-writer.js';
import { createFreshDatabase, dropDatabase } from './fresh-database.js';

/** Profiles that an empty configuration has, with the ids from 1. */
export const STORED_PROFILES = 3;
/** Applications of the catalogue, with the ids from 1. */
export const APPLICATIONS = 4;

/** The tables of the configuration, with the order of their rows. */
const TABLES = [
  ['block_page', '1'],
  ['profile', '1'],
  ['application_rule', '1, 2'],
  ['domain_rule', '1, 2'],
  ['ipv4_network', '1'],
  ['ipv6_network', '1'],
  ['napt_assignment', '1, 2, 3'],
  ['schedule', '1'],
  ['domain_order', '1'],
  ['domain_grant', '1, 2'],
] as const;

/** The hash of the domain `7` is 7. */
class NumberHasher extends DomainHasher {
  override hash(domain: string): number {
    return Number(domain);
  }
}

/** The controllers that change the configuration, on one database. Nothing validates what they get. */
export class ChangeControllers {
  readonly pages: BlockPagesController;
  readonly profiles: ProfilesController;
  readonly applications: ApplicationRulesController;
  readonly schedules: SchedulesController;
  readonly rules: DomainListsController;
  readonly napts: NaptController;
  readonly ipv4: Ipv4NetworksController;
  readonly ipv6: Ipv6NetworksController;
  readonly orders: OrdersController;
  readonly grants: GrantsController;
  readonly writer: ConfigurationWriter;

  private constructor(
    private readonly adminUrl: string,
    readonly url: string,
    readonly database: Database,
    readonly sql: pg.Client,
  ) {
    const reader = new ConfigurationReader(database);
    const propagation = {
      propagate: () => Promise.resolve({ applied: 0, total: 0 }),
    };
    const timeouts = { changeMs: 0, replacementMs: 0 };
    this.writer = new ConfigurationWriter(database, propagation, timeouts);
    const hasher = new NumberHasher(parseHashKey('0'.repeat(32)));
    this.pages = new BlockPagesController(reader, this.writer);
    this.profiles = new ProfilesController(reader, this.writer);
    this.applications = new ApplicationRulesController(reader, this.writer);
    this.schedules = new SchedulesController(reader, this.writer);
    this.rules = new DomainListsController(this.writer, hasher);
    this.napts = new NaptController(reader, this.writer);
    this.ipv4 = new Ipv4NetworksController(reader, this.writer);
    this.ipv6 = new Ipv6NetworksController(reader, this.writer);
    this.orders = new OrdersController(reader, this.writer, database, hasher);
    this.grants = new GrantsController(reader, this.writer, hasher);
  }

  static async start(adminUrl: string): Promise<ChangeControllers> {
    const url = await createFreshDatabase(adminUrl);
    const sql = new pg.Client(url);
    await sql.connect();
    const applications = Array.from({ length: APPLICATIONS }, (_, i) => {
      return { id: i + 1, name: `application ${i + 1}` };
    });
    const metadata = JSON.stringify({ categories: [], applications });
    await sql.query(
      `WITH image AS (
         INSERT INTO catalogue_image (sha256, size_bytes, metadata) VALUES (repeat('0', 64), 1, $1) RETURNING version
       )
       UPDATE config_head SET catalogue_version = image.version FROM image`,
      [metadata],
    );
    return new ChangeControllers(adminUrl, url, openDatabase(url), sql);
  }

  async stop(): Promise<void> {
    await this.sql.end();
    await this.database.close();
    await dropDatabase(this.adminUrl, this.url);
  }

  async empty(): Promise<void> {
    await this.sql.query(`
      TRUNCATE ${TABLES.map(([name]) => name).join()}, change, change_record, change_record_profile;
      UPDATE config_head SET revision = 0, digest = '0000000000000000';
      INSERT INTO profile (id) SELECT generate_series(1, ${STORED_PROFILES})`);
  }

  /** Everything that changes leave behind: rows, log, records and head. */
  async rows(): Promise<Record<string, unknown[]>> {
    const all: Record<string, unknown[]> = {};
    for (const [name, order] of TABLES) {
      // When an order was acknowledged differs from run to run.
      const rows = `SELECT * FROM ${name} ORDER BY ${order}`;
      const query = `SELECT to_jsonb(one) #- '{in_force,at}' AS row FROM (${rows}) AS one`;
      all[name] = (await this.sql.query<object>(query)).rows;
    }
    const log = 'SELECT revision, digest, operations FROM change ORDER BY 1';
    all['change'] = (await this.sql.query<object>(log)).rows;
    const records =
      "SELECT to_jsonb(change_record) - 'created_at' AS record FROM change_record ORDER BY revision";
    all['change_record'] = (await this.sql.query<object>(records)).rows;
    all['head'] = (await this.sql.query<object>('SELECT revision, digest FROM config_head')).rows;
    return all;
  }

  /** How many transactions have logged changes. */
  async transactions(): Promise<number> {
    const text = 'SELECT count(DISTINCT xmin::text)::int AS n FROM change';
    return (await this.sql.query<{ n: number }>(text)).rows[0]?.n ?? 0;
  }

  /** From now on, notes each statement that writes to a table, by table and kind. */
  async countStatements(): Promise<void> {
    await this.sql.query(`
      CREATE TABLE statement (name text);
      CREATE FUNCTION note_statement() RETURNS trigger LANGUAGE plpgsql AS
        $$ BEGIN INSERT INTO statement VALUES (TG_TABLE_NAME || ' ' || TG_OP); RETURN NULL; END $$`);
    for (const [name] of TABLES) {
      await this.sql.query(`
        CREATE TRIGGER note AFTER INSERT OR UPDATE OR DELETE ON ${name}
        FOR EACH STATEMENT EXECUTE FUNCTION note_statement()`);
    }
  }

  /** The noted statements since the last call. */
  async statements(): Promise<Record<string, number>> {
    const { rows } = await this.sql.query<{ name: string }>('DELETE FROM statement RETURNING name');
    const counts: Record<string, number> = {};
    for (const { name } of rows) counts[name] = (counts[name] ?? 0) + 1;
    return counts;
  }
}

function openDatabase(url: string): Database {
  return new Database(url, pino({ level: 'silent' }));
}
