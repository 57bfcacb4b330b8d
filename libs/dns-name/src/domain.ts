import { domainToASCII, domainToUnicode } from 'node:url';

/** Longest name in presentation form, without the trailing dot (RFC 1035 §2.3.4: 255 bytes on the wire). */
const MAX_NAME = 253;
/** Longest label (RFC 1035 §2.3.4). */
const MAX_LABEL = 63;
/** Longest text looked at: Unicode forms may hold characters that the mapping drops, but not without end. */
const MAX_INPUT = 1024;

const ASCII = /^[\0-\x7f]*$/;
const LDH_UNDERSCORE = /^[a-z0-9_-]+$/;
const ASCII_OUTSIDE_NAMES = /[\0-,/:-@[-^`{-\x7f]/;
const IPV4_LITERAL = /^\d+\.\d+\.\d+\.\d+$/;
const A_LABEL = /(?:^|\.)xn--/;
/** Hyphens where a U-label may not have them (RFC 5891 §4.2.3.1). */
const MISPLACED_HYPHEN = /^-|-$|^..--/u;
/** Keeps the converter, which reads host names of URLs, from taking a name whose last label is a number for an IPv4 address. */
const GUARD = '.x';

/** A text that is no domain name. The message says why and never repeats the text: domains are not logged (decisions §4). */
export class DomainError extends Error {
  override readonly name = 'DomainError';
}

/**
 * The normal form of a domain in presentation form (decisions §4): without trailing dot, lower case, IDNA A-labels (UTS #46
 * non-transitional); labels of letters, digits, hyphens and underscores, 1–63 long; at most 253 characters in all.
 * All forms of one domain have the same normal form, and a normal form is its own.
 * @throws DomainError for IP literals, wildcards, URLs, the root, and whatever else is no such name.
 */
export function normaliseDomain(presentationName: string): string {
  if (presentationName.length > MAX_INPUT) throw new DomainError('is too long for a domain name');
  const name = trimDot(toAscii(presentationName).toLowerCase());
  if (name === '') throw new DomainError('is empty');
  if (name.length > MAX_NAME) throw new DomainError(`is longer than ${MAX_NAME} characters`);
  for (const label of name.split('.')) checkLabel(label);
  if (IPV4_LITERAL.test(name)) throw new DomainError('is an IP address, not a domain name');
  if (A_LABEL.test(name)) checkALabels(name);
  return name;
}

function toAscii(text: string): string {
  if (ASCII.test(text)) return text;
  if (ASCII_OUTSIDE_NAMES.test(text)) throw badCharacter();
  const ascii = domainToASCII(text + GUARD);
  if (ascii === '') throw new DomainError('is not a valid internationalised domain name');
  return ascii.slice(0, -GUARD.length);
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

/** Each A-label must be the encoding of a U-label: the converter passes a label that merely looks like one unchanged. */
function checkALabels(name: string): void {
  const unicode = domainToUnicode(name + GUARD);
  const sound =
    domainToASCII(unicode) === name + GUARD &&
    unicode.split('.').every((label) => ASCII.test(label) || !MISPLACED_HYPHEN.test(label)) &&
    !A_LABEL.test(unicode);
  if (!sound) throw new DomainError('has an invalid A-label (xn--)');
}

function trimDot(name: string): string {
  return name.endsWith('.') ? name.slice(0, -1) : name;
}

function badCharacter(): DomainError {
  return new DomainError(
    'may hold letters, digits, hyphens, underscores and dots only (no URL, wildcard or IP literal)',
  );
}
