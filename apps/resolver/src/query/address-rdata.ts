import { ClientAddress } from '@weir/clients';

/** The rdata of an A or AAAA record: 4 or 16 bytes. Null: the text is not an address. An IPv4-mapped one is IPv4. */
export function addressRdata(text: string): Uint8Array | null {
  const address = new ClientAddress();
  if (!address.set(text, 0)) return null;
  const words = address.family === 4 ? address.words.subarray(0, 1) : address.words;
  return Uint8Array.from(
    [...words].flatMap((word) => [word >>> 24, word >>> 16, word >>> 8, word]),
  );
}
