/**
 * SipHash-2-4 as its paper writes it, in 64-bit BigInt arithmetic: the oracle of the tests for the WebAssembly module.
 */
export function sipHashReference(message: Uint8Array, key: Uint8Array): bigint {
  const k0 = word(key, 0);
  const k1 = word(key, 8);
  // Elements of such an array are cut to 64 bits.
  const v = BigUint64Array.of(
    k0 ^ 0x736f6d6570736575n,
    k1 ^ 0x646f72616e646f6dn,
    k0 ^ 0x6c7967656e657261n,
    k1 ^ 0x7465646279746573n,
  );
  const padded = new Uint8Array((Math.floor(message.length / 8) + 1) * 8);
  padded.set(message);
  padded[padded.length - 1] = message.length;
  for (let i = 0; i < padded.length; i += 8) {
    const m = word(padded, i);
    v[3] ^= m;
    round(v);
    round(v);
    v[0] ^= m;
  }
  v[2] ^= 0xffn;
  for (let i = 0; i < 4; i++) round(v);
  return v[0] ^ v[1] ^ v[2] ^ v[3];
}

function round(v: BigUint64Array): void {
  v[0] += v[1];
  v[1] = rotate(v[1], 13n) ^ v[0];
  v[0] = rotate(v[0], 32n);
  v[2] += v[3];
  v[3] = rotate(v[3], 16n) ^ v[2];
  v[0] += v[3];
  v[3] = rotate(v[3], 21n) ^ v[0];
  v[2] += v[1];
  v[1] = rotate(v[1], 17n) ^ v[2];
  v[2] = rotate(v[2], 32n);
}

function rotate(value: bigint, by: bigint): bigint {
  return BigInt.asUintN(64, value << by) | (value >> (64n - by));
}

function word(bytes: Uint8Array, offset: number): bigint {
  return new DataView(bytes.buffer, bytes.byteOffset).getBigUint64(offset, true);
}
