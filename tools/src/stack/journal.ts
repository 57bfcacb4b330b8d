import { fstatSync } from 'node:fs';

/**
 * Whether standard output goes to the journal of systemd, which other users may read.
 * @param journalStream `JOURNAL_STREAM`: device and inode of the journal's socket (systemd.exec(5)).
 * A child of a service inherits the variable even if its output goes elsewhere, so device and inode are compared.
 */
export function isSystemdJournal(journalStream: string | undefined, fileDescriptor = 1): boolean {
  const { dev, ino } = fstatSync(fileDescriptor);
  return journalStream === `${dev}:${ino}`;
}
