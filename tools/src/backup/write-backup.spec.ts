import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { writeBackup } from './write-backup.js';

const backUpInto = (file: string) =>
  writeBackup('postgresql://weir@127.0.0.1:1/weir', file, new AbortController().signal);

it('writeBackup reports in one line that the database cannot be reached', async () => {
  await expect(backUpInto(join(tmpdir(), 'weir-no-backup'))).rejects.toThrow(
    /^the backup failed: the database cannot be reached: .*ECONNREFUSED 127\.0\.0\.1:1 .*$/,
  );
});

it('writeBackup reports a file that cannot be replaced before it looks for the database', async () => {
  await expect(backUpInto(tmpdir())).rejects.toThrow(
    `the backup failed: ${tmpdir()} is not a regular file`,
  );
});
