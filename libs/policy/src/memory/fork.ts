/**
 * That two policies have chunks of memory in common: one of them was made from the other. Who writes such a chunk first
 * copies it. It is over when one of the two is no longer used.
 */
export class Fork {
  isOver = false;
}

/** Nothing is in common with anyone. */
export const NO_FORK = new Fork();
NO_FORK.isOver = true;
