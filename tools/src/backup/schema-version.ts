import { StartError } from '@weir/ops';
import type { Migration } from '../migrate/migration-files.js';
import type { AppliedMigration } from './manifest.js';

/**
 * The migrations of this release that create the schema of a backup or of a database.
 * @throws StartError when this release does not know the schema.
 */
export function migrationsOf(
  what: string,
  marks: readonly AppliedMigration[],
  known: readonly Migration[],
): readonly Migration[] {
  const newest = known.at(-1)?.name ?? '';
  return marks.map((mark, index) => {
    const migration = known[index];
    if (migration?.name === mark.name && migration.checksum === mark.checksum) return migration;
    if (mark.name > newest) {
      throw new StartError(
        `${what} is of a newer release: it has migration ${mark.name}, the newest one here is ${newest}`,
      );
    }
    throw new StartError(
      `${what} is of a release that this one does not know: it has another migration ${mark.name}`,
    );
  });
}
