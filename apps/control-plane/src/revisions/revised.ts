import type { Applied } from '@weir/change-feed';

const PIECE_CHARACTERS = 16_384;

/** An answer with the revision that it stands for. */
export class Revised<T> {
  constructor(
    readonly result: T,
    /** Of a change: the one it made. Of a read: the one it saw. */
    readonly revision: number,
    /** How far a change has come; null for a read. */
    readonly applied: Applied | null = null,
  ) {}

  map<U>(convert: (result: T) => U): Revised<U> {
    return new Revised(convert(this.result), this.revision, this.applied);
  }
}

/**
 * Items that are sent as a JSON array while they are read from the database. Holds a connection: whoever takes it reads
 * it to its end or closes it.
 */
export class Listing<T> {
  /** @param first what the first call of `rest.next()` gave: the source is open and readable. */
  constructor(
    private readonly first: IteratorResult<T, undefined>,
    private readonly rest: AsyncGenerator<T, undefined>,
  ) {}

  /** The text of the array, in pieces of about `PIECE_CHARACTERS`. */
  async *json(): AsyncGenerator<string> {
    let piece = '[';
    let separator = '';
    for (let item = this.first; !item.done; item = await this.rest.next()) {
      piece += separator + JSON.stringify(item.value);
      separator = ',';
      if (piece.length >= PIECE_CHARACTERS) {
        yield piece;
        piece = '';
      }
    }
    yield `${piece}]`;
  }

  /** Gives the connection back; harmless when that was done already. */
  async close(): Promise<void> {
    await this.rest.return(undefined);
  }
}
