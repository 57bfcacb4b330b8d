import { join } from 'node:path';
import { checkBackup } from './backup/check-backup.js';
import { runCommand } from './backup/command.js';
import { restoreBackup } from './backup/restore-backup.js';

const HELP = `Replaces the contents of Weir's database by a backup of npm run backup. Everything may keep running: changes wait for
a moment, and resolvers and block pages load the restored configuration by themselves.

  npm run restore -- <file> [options]

  --replace   overwrite the configuration in the database; by default only an empty database is accepted
  --check     only read the file, print its contents and whether it is whole; needs no database
  --help      this text

The database is that of DATABASE_URL. If it is unset, it is that of the local stack (npm start), which may be running or
not; DATA_DIR [.weir] is the stack's folder. A backup of an older release is migrated; a backup of a newer release is
refused.
Exit code: 0, or 1 when it failed; one line says why, and the database is unchanged.
`;

await runCommand({
  name: 'restore',
  help: HELP,
  flags: ['replace', 'check'],
  mayCreate: true,
  run: async ({ file, flags, withDatabase, root, log, signal }) => {
    if (flags.has('check')) {
      for (const line of await checkBackup(file, log)) log(line);
      return;
    }
    const folder = join(root, 'prisma/migrations');
    const replace = flags.has('replace');
    await withDatabase(async (databaseUrl) => {
      const startedMs = performance.now();
      const restored = await restoreBackup({ databaseUrl, file, replace, folder, log, signal });
      const seconds = ((performance.now() - startedMs) / 1000).toFixed(1);
      log(`the database is at revision ${restored.revision} again, ${seconds} s`);
    });
  },
});
