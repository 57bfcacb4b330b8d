import type { Ipv6Words } from '@weir/config-model';
import type { NetworkRecord } from '../../resources/networks/prefixes/network-store.js';
import { Column } from './column.js';
import { hashWords, RowIndex } from './row-index.js';

/** Networks of one address family. An address is stored as 32-bit words. */
export class DraftNetworks<A> {
  private readonly words: readonly Column[];
  private readonly prefixLengths = Column.int32();
  readonly profileIds = Column.int32();
  private keys = new RowIndex(0);

  constructor(
    words: number,
    private readonly split: (address: A) => readonly number[],
    readonly join: (words: readonly number[]) => A,
  ) {
    this.words = Array.from({ length: words }, () => Column.uint32());
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

  clearKeys(): void {
    this.keys = new RowIndex(this.profileIds.length);
  }

  /** @returns the earlier row with the address of this one; null: there was none. */
  addKey(row: number): number | null {
    const words = this.words.map((word) => word.at(row));
    return this.keys.add(row, hashWords(...words), this.isAddress(words));
  }

  /** The row of an address. */
  find(words: readonly number[]): number | null {
    return this.keys.find(hashWords(...words), this.isAddress(words));
  }

  /** Whether a row is this record. */
  is(row: number, words: readonly number[], prefixLength: number, profileId: number): boolean {
    const isSame =
      this.prefixLengths.at(row) === prefixLength && this.profileIds.at(row) === profileId;
    return isSame && this.isAddress(words)(row);
  }

  private isAddress(words: readonly number[]): (row: number) => boolean {
    return (row) => words.every((word, i) => this.words[i].at(row) === word);
  }
}
