import type { Ipv6Words } from '@weir/config-model';
import type { NetworkRecord } from '../../resources/networks/prefixes/network-store.js';
import { Column } from './column.js';
import { hashWords, KeyIndex } from './row-index.js';

/** Networks of one address family. An address is stored as 32-bit words. */
export class DraftNetworks<A> {
  private readonly words: readonly Column[];
  private readonly prefixLengths = Column.int32();
  readonly profileIds = Column.int32();
  readonly keys: KeyIndex;

  constructor(
    words: number,
    private readonly split: (address: A) => readonly number[],
    readonly join: (words: readonly number[]) => A,
  ) {
    this.words = Array.from({ length: words }, () => Column.uint32());
    this.keys = new KeyIndex(this.words);
  }

  static ofIpv4(): DraftNetworks<number> {
    return new DraftNetworks<number>(
      1,
      (address) => [address],
      (words) => words[0],
    );
  }

  static ofIpv6(): DraftNetworks<Ipv6Words> {
    return new DraftNetworks<Ipv6Words>(
      4,
      (address) => address,
      (words) => words as unknown as Ipv6Words,
    );
  }

  add({ address, prefixLength, profileId }: NetworkRecord<A>): void {
    for (const [i, word] of this.split(address).entries()) this.words[i].push(word);
    this.prefixLengths.push(prefixLength);
    this.profileIds.push(profileId);
  }

  at(row: number): NetworkRecord<A> {
    return {
      address: this.join(this.words.map((word) => word.at(row))),
      prefixLength: this.prefixLengths.at(row),
      profileId: this.profileIds.at(row),
    };
  }

  /** A 32-bit hash of an address. */
  hash(address: A): number {
    return hashWords(...this.split(address));
  }

  /** Whether a row is this record. */
  is(row: number, words: readonly number[], prefixLength: number, profileId: number): boolean {
    const isSame =
      this.prefixLengths.at(row) === prefixLength && this.profileIds.at(row) === profileId;
    return isSame && this.keys.is(row, words);
  }
}
