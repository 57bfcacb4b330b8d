/** Longest delta that is made, sent and read for a base of so many bytes, before compression. */
export function mostDeltaBytes(baseBytes: number): number {
  return Math.floor(baseBytes / 3);
}
