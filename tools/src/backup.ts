import { statSync } from 'node:fs';
import { runCommand } from './backup/command.js';
import { writeBackup } from './backup/write-backup.js';

const HELP = `Writes the contents of Weir's database into one file, for npm run restore. Everything may keep running.

  npm run backup -- <file>

  --help   this text

The database is that of DATABASE_URL. If it is unset, it is that of the local stack (npm start), which may be running or
not; DATA_DIR [.weir] is the stack's folder. Only the owner may read the file. It appears only when it is complete. It does
not contain DOMAIN_HASH_KEY: keep the key elsewhere, because without it the domain rules match nothing. The local stack
has the key in secrets.json in DATA_DIR.
Exit code: 0, or 1 when it failed; one line says why.
`;

await runCommand(HELP, false, async ({ databaseUrl, file, signal }) => {
  const revision = await writeBackup(databaseUrl, file, signal);
  return `revision ${revision} is in ${file}: ${statSync(file).size.toLocaleString('en')} bytes`;
});
