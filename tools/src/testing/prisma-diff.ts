import { PrismaPg } from '@prisma/adapter-pg';
import {
  bindMigrationAwareSqlAdapterFactory,
  type ColumnType,
  ColumnTypeEnum,
} from '@prisma/driver-adapter-utils';
import { SchemaEngine } from '@prisma/schema-engine-wasm';
import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import pg from 'pg';

const SCHEMA_FILE = fileURLToPath(new URL('../../../prisma/schema.prisma', import.meta.url));

/** By PostgreSQL's object id (OID). */
const CATALOG_TYPES: Readonly<Record<number, ColumnType>> = {
  16: ColumnTypeEnum.Boolean,
  18: ColumnTypeEnum.Character,
  19: ColumnTypeEnum.Text,
  20: ColumnTypeEnum.Int64,
  21: ColumnTypeEnum.Int32,
  23: ColumnTypeEnum.Int32,
  25: ColumnTypeEnum.Text,
  26: ColumnTypeEnum.Int64,
  1003: ColumnTypeEnum.TextArray,
  1009: ColumnTypeEnum.TextArray,
  1043: ColumnTypeEnum.Text,
};

/**
 * The SQL that would change a database into the one that schema.prisma describes; empty if they are equal. Prisma's
 * engine compares tables, columns, types, nullability, defaults, keys, indexes and enums. It does not compare check
 * constraints and functions.
 */
export async function diffFromSchema(databaseUrl: string): Promise<string> {
  const pool = new pg.Pool({ connectionString: databaseUrl });
  try {
    const engine = await SchemaEngine.new(
      { datamodels: undefined },
      () => undefined,
      bindMigrationAwareSqlAdapterFactory(new CatalogReader(pool)),
    );
    const files = [{ path: SCHEMA_FILE, content: readFileSync(SCHEMA_FILE, 'utf8') }];
    const { exitCode, stdout } = await engine.diff({
      from: { tag: 'schemaDatasource', files, configDir: '.' },
      to: { tag: 'schemaDatamodel', files },
      script: true,
      exitCode: true,
      filters: { externalTables: [], externalEnums: [] },
    });
    return exitCode === 0 ? '' : (stdout ?? '');
  } finally {
    await pool.end();
  }
}

/** Prisma's adapter refuses the type `"char"`, which the system catalogs use everywhere. */
class CatalogReader extends PrismaPg {
  constructor(private readonly pool: pg.Pool) {
    super(pool);
  }

  override async connect(): ReturnType<PrismaPg['connect']> {
    const adapter = await super.connect();
    adapter.queryRaw = async ({ sql, args }) => {
      const query = { text: sql, values: args, rowMode: 'array' as const };
      const { fields, rows } = await this.pool.query<never>(query);
      return {
        columnNames: fields.map(({ name }) => name),
        columnTypes: fields.map(({ name, dataTypeID }) => {
          const type = CATALOG_TYPES[dataTypeID];
          if (type === undefined) throw new Error(`${name} has the unknown type ${dataTypeID}`);
          return type;
        }),
        rows,
      };
    };
    return adapter;
  }
}
