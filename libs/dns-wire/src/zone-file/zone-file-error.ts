/** A zone file that cannot be used. The message says in which line, and why. */
export class ZoneFileError extends Error {
  override readonly name = 'ZoneFileError';
}
