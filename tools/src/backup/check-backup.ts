import { BackupReader } from './backup-reader.js';
import { toStartError } from './start-error.js';

/** Reads a backup to its end. @returns its contents as lines of text. @throws StartError when it is incomplete. */
export async function checkBackup(file: string, log: (line: string) => void): Promise<string[]> {
  try {
    const backup = await BackupReader.open(file, log);
    const { revision, madeAt, migrations } = backup.manifest;
    const lines = [
      `revision ${revision}, backed up at ${madeAt}, schema ${migrations.at(-1)?.name ?? 'none'}`,
    ];
    for await (const { table, rows } of backup.tables()) {
      let bytes = 0;
      for await (const piece of rows) bytes += piece.length;
      lines.push(`  ${table}: ${bytes.toLocaleString('en')} bytes`);
    }
    return [...lines, 'it is whole'];
  } catch (error) {
    throw toStartError(file, error);
  }
}
