import { join } from 'node:path';
import { checkBackup } from './backup/check-backup.js';
import { runCommand } from './backup/command.js';
import { restoreBackup } from './backup/restore-backup.js';

const HELP = `Puts a backup that npm run backup made in the place of what the database of Weir holds. Everything may run
meanwhile: changes wait while it is put in force, and resolvers and block pages follow by themselves.

  npm run restore -- <file> [options]

  --replace   also when the database holds a configuration, which is lost then; by default only an empty one is restored
  --check     only reads the file, says what it holds and whether it is whole; no database is touched
  --help

The database is that of DATABASE_URL, or else the one of the local stack, which must run then (npm start); DATA_DIR
[.weir] is the stack's folder. A backup of an older release is brought up to this one; one of a newer release is
refused. Whatever fails, all is as it was.
`;

await runCommand({
  name: 'restore',
  help: HELP,
  flags: ['replace', 'check'],
  run: async ({ file, flags, findDatabase, root, log, signal }) => {
    if (flags.has('check')) {
      for (const line of await checkBackup(file, log)) log(line);
      return;
    }
    const startedMs = performance.now();
    const databaseUrl = findDatabase();
    const folder = join(root, 'prisma/migrations');
    const replace = flags.has('replace');
    const restored = await restoreBackup({ databaseUrl, file, replace, folder, log, signal });
    const seconds = ((performance.now() - startedMs) / 1000).toFixed(1);
    log(`the database is at revision ${restored.revision} again, ${seconds} s`);
  },
});
