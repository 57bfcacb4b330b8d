export interface TakenChunk {
  readonly chunk: Int32Array;
  /** All words are 0. Otherwise they are anything. */
  readonly isNew: boolean;
}
