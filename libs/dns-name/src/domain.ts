import { domainToASCII, domainToUnicode } from 'node:url';

/** Longest name in presentation form, without the trailing dot (RFC 1035 §2.3.4: 255 bytes on the wire). */
const MAX_NAME = 253;
/** Longest label (RFC 1035 §2.3.4). */
const MAX_LABEL = 63;
/** Longest text that is read. Unicode forms may be longer than a name, as the mapping drops some characters. */
const MAX_INPUT = 1024;

/** A name in normal form, without A-labels, whose last label begins with no digit: most names, found in one pass. */
const PLAIN_NAME =
  /^(?:(?!xn--)[a-z0-9_](?:[a-z0-9_-]{0,61}[a-z0-9_])?\.)*(?!xn--)[a-z_](?:[a-z0-9_-]{0,61}[a-z0-9_])?$/;
const ASCII = /^[\0-\x7f]*$/;
const LDH_UNDERSCORE = /^[a-z0-9_-]+$/;
const ASCII_OUTSIDE_NAMES = /[\0-,/:-@[-^`{-\x7f]/;
const IPV4_LITERAL = /^\d+\.\d+\.\d+\.\d+$/;
const A_LABEL = /(?:^|\.)xn--/;
/** Hyphens where a U-label may not have them (RFC 5891 §4.2.3.1). */
const MISPLACED_HYPHEN = /^-|-$|^..--/u;
/** Appended, as the converter takes a name whose last label is a number for an IPv4 address in a URL. */
const LAST_LABEL = '.x';

/** A text that is not a domain name. The message never repeats the text: domains are not logged (decisions §4). */
export class DomainError extends Error {
  override readonly name = 'DomainError';
}

/**
 * The normal form of a domain in presentation form (decisions §4): without trailing dot, lower case, IDNA A-labels
 * (UTS #46 non-transitional); labels of 1 to 63 letters, digits, hyphens and underscores; at most 253 characters in
 * all. All spellings of a domain have the same normal form. The normal form of a normal form is the same text.
 * @throws DomainError for IP literals, wildcards, URLs, the root, and any other text that is not such a name.
 */
export function normaliseDomain(presentationName: string): string {
  if (presentationName.length <= MAX_NAME && PLAIN_NAME.test(presentationName)) {
    return presentationName;
  }
  if (presentationName.length > MAX_INPUT) throw new DomainError('is too long for a domain name');
  const name = trimDot(toAscii(presentationName).toLowerCase());
  if (name === '') throw new DomainError('is empty');
  if (name.length > MAX_NAME) throw new DomainError(`is longer than ${MAX_NAME} characters`);
  for (const label of name.split('.')) checkLabel(label);
  if (IPV4_LITERAL.test(name)) throw new DomainError('is an IP address, not a domain name');
  if (A_LABEL.test(name)) checkALabels(name);
  return name;
}

/** The normal form of a domain, or null where `normaliseDomain` throws. */
export function domainOrNull(presentationName: string): string | null {
  try {
    return normaliseDomain(presentationName);
  } catch (error) {
    if (error instanceof DomainError) return null;
    throw error;
  }
}

function toAscii(text: string): string {
  if (ASCII.test(text)) return text;
  if (ASCII_OUTSIDE_NAMES.test(text)) throw badCharacter();
  const ascii = domainToASCII(text + LAST_LABEL);
  if (ascii === '') throw new DomainError('is not a valid internationalised domain name');
  return ascii.slice(0, -LAST_LABEL.length);
}

function checkLabel(label: string): void {
  if (label === '') throw new DomainError('has an empty label');
  if (label.length > MAX_LABEL) {
    throw new DomainError(`has a label longer than ${MAX_LABEL} characters`);
  }
  if (!LDH_UNDERSCORE.test(label)) throw badCharacter();
  if (label.startsWith('-') || label.endsWith('-')) {
    throw new DomainError('has a label that begins or ends with a hyphen');
  }
}

/** Each A-label must be the encoding of a U-label. The converter does not change a label that only looks like one. */
function checkALabels(name: string): void {
  const unicode = domainToUnicode(name + LAST_LABEL);
  const isValid =
    domainToASCII(unicode) === name + LAST_LABEL &&
    unicode.split('.').every((label) => ASCII.test(label) || !MISPLACED_HYPHEN.test(label)) &&
    !A_LABEL.test(unicode);
  if (!isValid) throw new DomainError('has an invalid A-label (xn--)');
}

function trimDot(name: string): string {
  return name.endsWith('.') ? name.slice(0, -1) : name;
}

function badCharacter(): DomainError {
  return new DomainError(
    'may hold letters, digits, hyphens, underscores and dots only (no URL, wildcard or IP literal)',
  );
}

/** The wire name of a normal form (RFC 1035 §3.1): `example.com` gives `07 example 03 com 00`. */
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
