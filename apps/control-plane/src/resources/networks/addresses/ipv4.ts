const DOT = 0x2e;
const ZERO = 0x30;

/**
 * The address as a big-endian unsigned 32-bit integer; null when the text is not four decimal parts without leading
 * zeros. It reads digit by digit for speed, because a body may have millions of addresses.
 */
export function parseIpv4(text: string): number | null {
  if (text.length > 15) return null;
  let address = 0;
  let part = 0;
  let digits = 0;
  let dots = 0;
  for (let i = 0; i < text.length; i++) {
    const code = text.charCodeAt(i);
    if (code === DOT) {
      if (digits === 0 || ++dots > 3) return null;
      address = address * 256 + part;
      part = digits = 0;
      continue;
    }
    const digit = code - ZERO;
    const leadingZero = digits > 0 && part === 0;
    if (digit < 0 || digit > 9 || leadingZero) return null;
    part = part * 10 + digit;
    digits++;
    if (part > 255) return null;
  }
  return dots === 3 && digits > 0 ? address * 256 + part : null;
}

/** The dotted-decimal text of an address. */
export function formatIpv4(address: number): string {
  return [address >>> 24, (address >>> 16) & 255, (address >>> 8) & 255, address & 255].join('.');
}

/** The address with all but its first `prefixLength` bits cleared. */
export function maskIpv4(address: number, prefixLength: number): number {
  return prefixLength === 0 ? 0 : (address & (-1 << (32 - prefixLength))) >>> 0;
}
