import { ClientAddress } from '../client-address.js';

/** Addresses that a blocked name is answered with, as consecutive rdata: 4 or 16 bytes each. Either may be empty. */
interface PageAddresses {
  readonly ipv4: Uint8Array;
  readonly ipv6: Uint8Array;
}

/** The addresses of the block pages: the deployment's default page and pages with addresses of their own. */
export class BlockPages {
  private readonly pages = new Map<number, PageAddresses>();
  private readonly defaultPage: PageAddresses;

  /** @param ownAddresses by page id. A family without an address is empty, not the default one (decisions §8). */
  constructor(
    defaultAddresses: readonly string[],
    ownAddresses: ReadonlyMap<number, readonly string[]>,
  ) {
    this.defaultPage = toRdata(defaultAddresses);
    for (const [id, addresses] of ownAddresses) this.pages.set(id, toRdata(addresses));
  }

  /** @param pageId of the profile; −1: none. A page without addresses of its own has those of the default page. */
  addressesOf(pageId: number): PageAddresses {
    return this.pages.get(pageId) ?? this.defaultPage;
  }
}

/** The rdata of A and AAAA records, one after another. */
export function toRdata(addresses: readonly string[]): PageAddresses {
  const ipv4: number[] = [];
  const ipv6: number[] = [];
  for (const address of addresses) {
    const rdata = addressRdata(address);
    if (rdata === null) throw new RangeError(`"${address}" is not an address`);
    (rdata.length === 4 ? ipv4 : ipv6).push(...rdata);
  }
  return { ipv4: Uint8Array.from(ipv4), ipv6: Uint8Array.from(ipv6) };
}

/** The rdata of an A or AAAA record: 4 or 16 bytes. Null: the text is not an address. An IPv4-mapped one is IPv4. */
export function addressRdata(text: string): Uint8Array | null {
  const address = new ClientAddress();
  if (!address.set(text, 0)) return null;
  const words = address.family === 4 ? address.words.subarray(0, 1) : address.words;
  return Uint8Array.from(
    [...words].flatMap((word) => [word >>> 24, word >>> 16, word >>> 8, word]),
  );
}
