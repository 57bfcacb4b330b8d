import { join } from 'node:path';
import { ROOT, runCommand } from './backup/command.js';
import { restoreBackup } from './backup/restore-backup.js';
import { print } from './command.js';

const HELP = `Replaces the contents of Weir's database by a backup of npm run backup. Everything may keep running: changes wait for
a moment, and resolvers and block pages load the restored configuration by themselves.

  npm run restore -- <file> [options]

  --replace   overwrite the configuration in the database; by default only an empty database is accepted
  --help      this text

The database is that of DATABASE_URL. If it is unset, it is that of the local stack (npm start), which may be running or
not; DATA_DIR [.weir] is the stack's folder. A backup of a newer release is refused.
Exit code: 0, or 1 when it failed; one line says why, and the configuration is unchanged.
`;

await runCommand(HELP, true, async (request) => {
  const folder = join(ROOT, 'prisma/migrations');
  const revision = await restoreBackup({ ...request, folder, log: print });
  return `the database is at revision ${revision} again`;
});
