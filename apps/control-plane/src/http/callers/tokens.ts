import {
  type AddressWords,
  bearerToken,
  type CidrSet,
  parseCidrs,
  findToken,
  type HashedToken,
  parseDate,
  parseTime,
  sha256,
  type Watched,
  watchFile,
  type WatchedFilesLog,
} from '@weir/ops';
import { parseDocument } from 'yaml';
import { type Scope, SCOPES } from './scope.js';

interface Sources {
  readonly set: CidrSet;
  readonly texts: readonly string[];
}

export interface Token extends HashedToken {
  /** Names the token in the log and in the records of changes. */
  readonly name: string;
  readonly scope: Scope;
  /** Undefined: from any approved source. */
  readonly sources: Sources | undefined;
  /** From this time on it is refused; Infinity: never. */
  readonly expiresMs: number;
}

/** Every token is compared at each request. */
const MAX_TOKENS = 200;
const FIELDS = new Set(['name', 'sha256', 'scope', 'sources', 'expires']);
const NAME = /^[a-zA-Z][\w.-]{0,63}$/;
/** Names of the tokens of `MANAGEMENT_TOKENS`. */
const RESERVED_NAME = /^env-/;
/** What `sha256sum` writes when the token was empty by mistake. */
const DIGEST_OF_NOTHING = sha256('');

/**
 * Reads `MANAGEMENT_TOKENS_FILE`: a YAML list of tokens.
 * @throws Error that names the entry and the field. It never repeats a value, which may be a token by mistake.
 */
export function parseTokens(text: string): Token[] {
  const entries = parseYaml(text);
  if (!Array.isArray(entries)) throw new Error('must be a YAML list of tokens');
  if (entries.length > MAX_TOKENS) throw new Error(`has more than ${MAX_TOKENS} tokens`);
  const tokens = entries.map((entry, i) => readToken(entry, `token ${i + 1}`));
  for (const [i, { name, digest }] of tokens.entries()) {
    const earlier = tokens.slice(0, i);
    if (earlier.some((other) => other.name === name)) {
      throw new Error(`token ${i + 1}: its name is taken`);
    }
    if (earlier.some((other) => other.digest.equals(digest))) {
      throw new Error(`token ${i + 1}: its sha256 is that of another token`);
    }
  }
  return tokens;
}

function parseYaml(text: string): unknown {
  const document = parseDocument(text);
  const [error] = document.errors;
  // The message of the error would repeat a part of the file.
  if (error !== undefined) throw new Error(`line ${error.linePos?.[0].line ?? 1} is not YAML`);
  try {
    return document.toJS({ maxAliasCount: 0 });
  } catch {
    throw new Error('must not have aliases');
  }
}

function readToken(entry: unknown, where: string): Token {
  if (typeof entry !== 'object' || entry === null || Array.isArray(entry)) {
    throw new Error(`${where} must have the fields name, sha256 and scope`);
  }
  const fields = entry as Readonly<Record<string, unknown>>;
  const fault = (what: string): Error => new Error(`${where}: ${what}`);
  if (Object.keys(fields).some((field) => !FIELDS.has(field))) {
    throw fault(`may have only ${[...FIELDS].join(', ')}`);
  }
  const { name, sha256, scope, sources, expires } = fields;
  if (typeof name !== 'string' || !NAME.test(name) || RESERVED_NAME.test(name)) {
    throw fault(
      'name must begin with a letter, have letters, digits, . _ - and not begin with env-',
    );
  }
  if (typeof sha256 !== 'string' || !/^[\da-f]{64}$/i.test(sha256)) {
    throw fault('sha256 must be 64 hexadecimal digits in quotes');
  }
  const digest = Buffer.from(sha256, 'hex');
  if (digest.equals(DIGEST_OF_NOTHING))
    throw fault('sha256 is that of an empty text, not of a token');
  const known = SCOPES.find((one) => one === scope);
  if (known === undefined) throw fault(`scope must be one of ${SCOPES.join(', ')}`);
  return {
    name,
    digest,
    scope: known,
    sources: sources === undefined ? undefined : readSources(sources, fault),
    expiresMs: expires === undefined ? Infinity : readTime(expires, fault),
  };
}

function readSources(sources: unknown, fault: (what: string) => Error): Sources {
  const isList = Array.isArray(sources) && sources.length > 0;
  if (!isList || !sources.every((one) => typeof one === 'string')) {
    throw fault('sources must be a list of networks');
  }
  try {
    return { set: parseCidrs(sources), texts: sources };
  } catch {
    throw fault('sources must be a list of networks such as 192.0.2.0/24');
  }
}

function readTime(expires: unknown, fault: (what: string) => Error): number {
  const text = typeof expires === 'string' ? expires : '';
  const dateMs = parseDate(text);
  const timeMs = Number.isNaN(dateMs) ? parseTime(text) : dateMs;
  if (Number.isNaN(timeMs)) {
    throw fault(
      'expires must be a date (2027-01-31) or a time of RFC 3339 with its zone (2027-01-31T12:00:00Z)',
    );
  }
  return timeMs;
}

export interface RefusedToken {
  readonly caller: null;
  /** For the log only. */
  readonly why: string;
  /** The request has no credentials at all. */
  readonly isMissing: boolean;
}

/** The tokens of `MANAGEMENT_TOKENS`. They are named by their position, and may do everything. */
export function environmentTokens(tokens: readonly string[]): Token[] {
  return tokens.map((token, i) => ({
    name: `env-${i + 1}`,
    digest: sha256(token),
    scope: 'replace',
    sources: undefined,
    expiresMs: Infinity,
  }));
}

/**
 * Finds the token of an `Authorization` header.
 * @param source null: it is unknown, and only a token without `sources` is accepted
 */
export function checkToken(
  tokens: readonly Token[],
  authorization: string | undefined,
  source: AddressWords | null,
  nowMs: number,
): { readonly caller: Token } | RefusedToken {
  const refuse = (why: string): RefusedToken => {
    return { caller: null, why, isMissing: authorization === undefined };
  };
  const presented = bearerToken(authorization);
  if (presented === null) return refuse('no bearer token');
  const found = findToken(tokens, presented);
  if (found === null) return refuse('unknown token');
  if (nowMs >= found.expiresMs) return refuse(`token ${found.name} has expired`);
  if (found.sources && (source === null || !found.sources.set.has(source))) {
    return refuse(`token ${found.name} is not for this source`);
  }
  return { caller: found };
}

const MAX_FILE_BYTES = 2 ** 20;
/** A token that was taken out is refused after this time. */
const CHECK_MS = 2_000;

/**
 * The tokens of the environment and of the file.
 * @throws StartError when the file is not usable.
 */
export function openTokens(
  variables: {
    readonly MANAGEMENT_TOKENS: readonly string[] | undefined;
    readonly MANAGEMENT_TOKENS_FILE: string | undefined;
  },
  log: WatchedFilesLog,
): Watched<readonly Token[]> {
  const { MANAGEMENT_TOKENS: texts = [], MANAGEMENT_TOKENS_FILE: name } = variables;
  const fixed = environmentTokens(texts);
  return watchFile<readonly Token[]>({
    variable: 'MANAGEMENT_TOKENS_FILE',
    path: name,
    fixed,
    maxBytes: MAX_FILE_BYTES,
    parse: (text) => [...fixed, ...parseTokens(text)],
    content: 'the tokens of the management API',
    log,
    checkMs: CHECK_MS,
  });
}
