/**
 * The wire name of a domain (RFC 1035 §3.1): each label with its length byte before it, then the root's 0.
 * `example.com` gives `07 example 03 com 00`.
 * @param normalised as `normaliseDomain` gives it: ASCII, valid labels, no trailing dot.
 */
export function toWireName(normalised: string): Uint8Array {
  const wireName = new Uint8Array(normalised.length + 2);
  let lengthAt = 0;
  for (let i = 0; i < normalised.length; i++) {
    const code = normalised.charCodeAt(i);
    if (code === 0x2e) {
      lengthAt = i + 1;
    } else {
      wireName[i + 1] = code;
      wireName[lengthAt]++;
    }
  }
  return wireName;
}
