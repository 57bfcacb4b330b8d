import { BAD_NAME, expandName, MAX_NAME_BYTES, parseName, skipName } from '@weir/dns-wire';
import { CatalogueError } from '../catalogue-error.js';

export function malformed(): CatalogueError {
  return new CatalogueError('sent a malformed DNS message');
}

/** The offset behind a name that may be compressed. @throws CatalogueError when it is malformed. */
export function endOfName(message: Uint8Array, at: number): number {
  const end = skipName(message, message.length, at);
  if (end === BAD_NAME) throw malformed();
  return end;
}

/** The wire name at `at` in lower case, without compression. @throws CatalogueError when it is malformed. */
export function canonicalName(message: Uint8Array, at: number): Buffer {
  const name = Buffer.alloc(MAX_NAME_BYTES);
  const length = expandName(message, message.length, at, name);
  if (length === BAD_NAME) throw malformed();
  return lowerCase(name.subarray(0, length));
}

/** The wire name in lower case of a name that `parseName` accepts. */
export function wireName(text: string): Buffer {
  const name = parseName(text);
  if (name === null) throw new CatalogueError(`${JSON.stringify(text)} is not a domain name`);
  return lowerCase(Buffer.from(name));
}

/** A length byte is below the letters. */
function lowerCase(name: Buffer): Buffer {
  for (let at = 0; at < name.length; at++) {
    if (name[at] >= 0x41 && name[at] <= 0x5a) name[at] |= 0x20;
  }
  return name;
}
