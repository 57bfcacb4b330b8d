/**
 * Remembers tags of entries that were dropped lately, about as many as it has places: a tag has one place, and a newer one takes it.
 */
export class GhostTable {
  private readonly tags: Int32Array;

  /** @param places a power of two */
  constructor(places: number) {
    this.tags = new Int32Array(places);
  }

  add(tag: number): void {
    this.tags[this.placeOf(tag)] = tag;
  }

  /** Whether the tag is remembered; it is not any more after that. */
  take(tag: number): boolean {
    const place = this.placeOf(tag);
    if (this.tags[place] !== tag || tag === 0) return false;
    this.tags[place] = 0;
    return true;
  }

  private placeOf(tag: number): number {
    return tag & (this.tags.length - 1);
  }
}
