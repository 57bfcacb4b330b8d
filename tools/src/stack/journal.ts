import { fstatSync } from 'node:fs';

/**
 * Whether what is printed goes to the journal of systemd, where others read it too.
 * @param journalStream `JOURNAL_STREAM`: device and inode of the journal's own end (systemd.exec(5)). Who was started
 * from a service may have it without printing there.
 */
export function isSystemdJournal(journalStream: string | undefined, fileDescriptor = 1): boolean {
  const { dev, ino } = fstatSync(fileDescriptor);
  return journalStream === `${dev}:${ino}`;
}
