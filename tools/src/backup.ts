import { statSync } from 'node:fs';
import { runCommand } from './backup/command.js';
import { writeBackup } from './backup/write-backup.js';

const HELP = `Writes what the database of Weir holds into one file, for npm run restore. Everything may run meanwhile.

  npm run backup -- <file>

The database is that of DATABASE_URL, or else the one of the local stack, which must run then (npm start); DATA_DIR
[.weir] is the stack's folder. The file is for its owner alone, and there only when it is whole. It holds no key: keep
DOMAIN_HASH_KEY elsewhere, because without it the domain rules match nothing. The local stack has it in secrets.json
in DATA_DIR.
`;

await runCommand({
  name: 'backup',
  help: HELP,
  flags: [],
  run: async ({ file, findDatabase, log, signal }) => {
    const startedMs = performance.now();
    const { revision } = await writeBackup({ databaseUrl: findDatabase(), file, log, signal });
    const seconds = ((performance.now() - startedMs) / 1000).toFixed(1);
    const bytes = statSync(file).size.toLocaleString('en');
    log(`revision ${revision} is in ${file}: ${bytes} bytes, ${seconds} s`);
  },
});
