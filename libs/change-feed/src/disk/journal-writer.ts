import { FileThread } from '../files/file-thread.js';
import { endsWithin } from '../runtime/ends-within.js';

/** Longest time that an acknowledgement waits for the journal: half the default of PROPAGATION_TIMEOUT_MS. */
const LATE_MS = 500;
/** Longest time for a replacement of the journal, and for what waits when the process stops. */
const PATIENCE_MS = 5_000;
/** Most bytes that wait for a disk that is late. */
const MAX_BACKLOG_BYTES = 8 * 1024 * 1024;

/**
 * Writes the journal on a thread of its own, because a change must not wait for the flush of a large file. A disk that
 * is slow or hangs for a while is waited for, as long as the changes that wait for it are few.
 */
export class JournalWriter {
  /** Size of the journal. */
  bytes = 0;
  private isOpen = false;
  private isLate = false;
  private replacements = 0;
  /** Calls without an answer, and the bytes in them. */
  private pending = 0;
  private backlogBytes = 0;
  /** Lines that came during the last call: one call appends them all, so that a slow disk does not fall behind. */
  private lines: string[] = [];
  private appending: Promise<void> | null = null;
  private last: Promise<void> = Promise.resolve();

  constructor(
    private readonly onFailure: (error: unknown) => void,
    private readonly thread = new FileThread({ patienceMs: Infinity }),
  ) {}

  /** Whether a change that is appended now will be in the journal. */
  get isAvailable(): boolean {
    return this.isOpen || this.replacements > 0;
  }

  /** Whether the disk keeps changes waiting for too long. */
  get isBehind(): boolean {
    return this.isLate || this.thread.isHanging;
  }

  /** Opens a journal to append to it; what is behind its first bytes is cut off. */
  open(path: string, lengthBytes: number): void {
    this.isOpen = true;
    this.bytes = lengthBytes;
    void this.follow(this.thread.call('openJournal', path, lengthBytes));
  }

  /** Appends a line. Nobody waits for that but the callers of `stored`. */
  append(line: string): void {
    if (!this.isAvailable) return;
    const lengthBytes = Buffer.byteLength(line);
    this.bytes += lengthBytes;
    this.backlogBytes += lengthBytes;
    if (this.isLate && this.backlogBytes > MAX_BACKLOG_BYTES) this.thread.giveUp();
    this.lines.push(line);
    if (this.appending === null) this.appendLines();
  }

  /** As `fileCalls.replace`. @throws Error when that fails; then the old journal goes on, if there was one. */
  async replace(folder: string, newSnapshot: string, lines: string): Promise<void> {
    this.appendLines();
    const lengthBytes = Buffer.byteLength(lines);
    const before = this.bytes;
    // What is appended from now on goes to the new journal.
    this.replacements++;
    this.bytes = lengthBytes;
    const replaced = this.thread.call('replace', folder, newSnapshot, lines).then(
      () => {
        this.replacements--;
        this.isOpen = true;
      },
      (error: unknown) => {
        this.replacements--;
        this.bytes += before - lengthBytes;
        throw error;
      },
    );
    this.remember(replaced);
    if (!(await endsWithin(replaced, PATIENCE_MS))) this.thread.giveUp();
    await replaced;
  }

  /** Nothing can be appended until the journal is replaced. */
  close(): void {
    if (!this.isOpen) return;
    this.appendLines();
    this.isOpen = false;
    this.bytes = 0;
    void this.follow(this.thread.call('closeJournal'));
  }

  /** Resolves when all that was appended is in the journal, or cannot be, or the disk is late. */
  async stored(): Promise<void> {
    const isStored = this.pending === 0 && this.lines.length === 0;
    if (isStored || this.isBehind || (await endsWithin(this.appended(), LATE_MS))) return;
    this.isLate = this.pending > 0;
  }

  /** Ends the thread when all that was appended is in the journal, or the disk does not answer. */
  async end(): Promise<void> {
    this.close();
    await endsWithin(this.last, PATIENCE_MS);
    await this.thread.close();
  }

  /** Resolves when all that was appended so far has been answered. */
  private async appended(): Promise<void> {
    if (this.lines.length > 0) await this.appending;
    await this.last;
  }

  /** Calls for what waits. What is appended until the answer waits for the next call. */
  private appendLines(): void {
    if (this.lines.length === 0) return;
    const lines = this.lines.join('');
    const lengthBytes = Buffer.byteLength(lines);
    this.lines = [];
    const appended = this.thread.call('append', lines).finally(() => {
      this.backlogBytes -= lengthBytes;
    });
    const appending = this.follow(appended).then(() => {
      if (this.appending !== appending) return;
      this.appending = null;
      this.appendLines();
    });
    this.appending = appending;
  }

  private async follow(call: Promise<void>): Promise<void> {
    const followed = call.catch((error: unknown) => {
      if (this.isOpen) this.onFailure(error);
      this.isOpen = false;
      this.bytes = 0;
    });
    this.remember(followed);
    await followed;
  }

  private remember(call: Promise<void>): void {
    this.pending++;
    this.last = call
      .catch(() => undefined)
      .then(() => {
        this.pending--;
        if (this.pending === 0) this.isLate = false;
      });
  }
}
