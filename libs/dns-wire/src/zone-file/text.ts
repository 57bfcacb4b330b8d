import { MAX_LABEL_BYTES, MAX_NAME_BYTES } from '../protocol.js';
import { ZoneFileError } from './zone-file-error.js';

const BACKSLASH = '\\';

/** One character of a text, or one escape: `\DDD` is a byte, `\X` the character X itself (RFC 1035 §5.1). */
interface Character {
  readonly bytes: Uint8Array;
  readonly isEscaped: boolean;
}

const utf8 = new TextEncoder();

function* charactersOf(text: string): Generator<Character> {
  const characters = Array.from(text);
  for (let i = 0; i < characters.length; i++) {
    if (characters[i] !== BACKSLASH) {
      yield { bytes: utf8.encode(characters[i]), isEscaped: false };
      continue;
    }
    const digits = characters.slice(i + 1, i + 4).join('');
    if (!/^\d/.test(digits)) {
      yield { bytes: utf8.encode(characters[++i]), isEscaped: true };
      continue;
    }
    if (!/^\d{3}$/.test(digits) || Number(digits) > 255) {
      throw new ZoneFileError(`\\${digits} is not a byte`);
    }
    yield { bytes: Uint8Array.of(Number(digits)), isEscaped: true };
    i += 3;
  }
}

/** The bytes of a text, without its escapes. Other characters than ASCII are UTF-8. */
export function bytesOfText(text: string): Uint8Array {
  return Uint8Array.from([...charactersOf(text)].flatMap(({ bytes }) => [...bytes]));
}

/**
 * The wire name of a name in presentation form. `@` is the origin; a name without a dot at its end is relative to it.
 * @param origin a wire name
 */
export function wireNameOf(text: string, origin: Uint8Array): Uint8Array {
  if (text === '@') return origin;
  if (text === '.') return Uint8Array.of(0);
  if (text === '') throw new ZoneFileError('a name is empty');
  const name: number[] = [];
  let label: number[] = [];
  for (const { bytes, isEscaped } of charactersOf(text)) {
    if (bytes.length > 1)
      throw new ZoneFileError('a name has other characters than ASCII; write it with xn--');
    if (bytes[0] === 0x2e && !isEscaped) {
      appendLabel(name, label);
      label = [];
    } else {
      label.push(bytes[0]);
    }
  }
  const isAbsolute = label.length === 0;
  if (isAbsolute) return finished([...name, 0]);
  appendLabel(name, label);
  return finished([...name, ...origin]);
}

function appendLabel(name: number[], label: readonly number[]): void {
  if (label.length === 0) throw new ZoneFileError('a name has an empty label');
  if (label.length > MAX_LABEL_BYTES) {
    throw new ZoneFileError(`a label is longer than ${MAX_LABEL_BYTES} bytes`);
  }
  name.push(label.length, ...label);
}

function finished(name: readonly number[]): Uint8Array {
  if (name.length > MAX_NAME_BYTES)
    throw new ZoneFileError(`a name is longer than ${MAX_NAME_BYTES} bytes`);
  return Uint8Array.from(name);
}
