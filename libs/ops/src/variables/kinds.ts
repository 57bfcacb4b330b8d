import {
  defineList,
  defineVariable,
  matchingSchema,
  type ValueSchema,
  type Variable,
  VariableFault,
  type VariableOptions,
} from './variable.js';

const numberKind =
  (type: 'integer' | 'number', what: string, form: RegExp) =>
  (lowest: number, highest: number, options: VariableOptions): Variable<number> => {
    const allowed = `${what} from ${lowest} to ${highest}`;
    const schema = { type, minimum: lowest, maximum: highest };
    return defineVariable(options, allowed, schema, (text) => {
      const parsed = form.test(text) ? Number(text) : Number.NaN;
      if (!(parsed >= lowest && parsed <= highest)) throw new VariableFault();
      return parsed;
    });
  };

export const integer = numberKind('integer', 'a whole number', /^\d{1,15}$/);
export const decimal = numberKind('number', 'a number', /^\d{1,15}(\.\d{1,15})?$/);

/** A port to listen on. Unless `lowest` excludes it, 0 is allowed and means any free port. */
export function port(
  options: VariableOptions & { readonly lowest?: number; readonly highest?: number },
): Variable<number> {
  const { lowest = 0, highest = 65535 } = options;
  const allowed = `a port number from ${lowest} to ${highest}`;
  return { ...integer(lowest, highest, options), allowed };
}

/** Any text, unchanged. */
export function text(allowed: string, options: VariableOptions): Variable<string> {
  return defineVariable(options, allowed, { type: 'string', minLength: 1 }, (value) => value);
}

export function matching(
  pattern: RegExp,
  longest: number,
  allowed: string,
  options: VariableOptions,
): Variable<string> {
  // JSON Schema has no flags and RE2 has no lookahead, so only the process checks such patterns.
  const isPortable = !pattern.ignoreCase && !pattern.source.includes('(?=');
  const portable = isPortable ? { pattern: pattern.source } : {};
  const valueSchema = { type: 'string', minLength: 1, maxLength: longest, ...portable };
  return defineVariable(options, allowed, valueSchema, (value) => {
    if (value.length > longest) throw new VariableFault();
    return matched(value, pattern);
  });
}

/** Comma-separated names of files, without an extension. */
export function nameList(options: VariableOptions): Variable<readonly string[]> {
  const name = /^[a-z0-9][a-z0-9-]*$/;
  const allowed = 'comma-separated names of lower-case letters, digits and hyphens';
  const schema = { type: 'string', pattern: name.source };
  return defineList(options, allowed, schema, (item) => matched(item, name));
}

export function boolean(options: VariableOptions): Variable<boolean> {
  return defineVariable(options, 'true or false', { type: 'boolean' }, (value) => {
    if (value !== 'true' && value !== 'false') throw new VariableFault();
    return value === 'true';
  });
}

export function choice<const T extends string>(
  choices: readonly T[],
  options: VariableOptions,
): Variable<T> {
  const allowed = `one of ${choices.join(', ')}`;
  return defineVariable(options, allowed, { enum: choices }, (value) => {
    const found = choices.find((one) => one === value);
    if (found === undefined) throw new VariableFault();
    return found;
  });
}

const BYTE_SIZE = {
  type: ['integer', 'string'],
  minimum: 0,
  pattern: '^[0-9]{1,12}(?:[kKmMgG]?[bB])?$',
};

/** A size in bytes: digits, or digits with kb, mb or gb (1024 each). */
export function byteSize(options: VariableOptions): Variable<number> {
  const allowed = 'a size such as 512kb, 8mb or a number of bytes';
  return defineVariable(options, allowed, BYTE_SIZE, (value) => {
    const match = /^(\d{1,12})(kb|mb|gb|b)?$/i.exec(value);
    if (!match) throw new VariableFault();
    const unit = { b: 1, kb: 1024, mb: 1024 ** 2, gb: 1024 ** 3 }[(match[2] ?? 'b').toLowerCase()];
    return Number(match[1]) * (unit ?? 1);
  });
}

export function timeZone(options: VariableOptions): Variable<string> {
  const allowed = 'an IANA time zone such as UTC or Europe/London';
  const schema = matchingSchema('[A-Za-z][A-Za-z0-9_+/-]*');
  return defineVariable(options, allowed, schema, (value) => {
    if (!/^[A-Za-z]/.test(value)) throw new VariableFault();
    try {
      const zone = new Intl.DateTimeFormat('en', { timeZone: value }).resolvedOptions().timeZone;
      // Schedules ask Temporal, which knows fewer old names.
      Temporal.Instant.fromEpochMilliseconds(0).toZonedDateTimeISO(zone);
      return zone;
    } catch (error) {
      if (error instanceof RangeError) throw new VariableFault();
      throw error;
    }
  });
}

/** A JSON text that `read` converts. `read` throws VariableFault when the value is not allowed. */
export function json<T>(
  allowed: string,
  read: (value: unknown) => T,
  options: VariableOptions & { readonly valueSchema?: ValueSchema },
): Variable<T> {
  return defineVariable(options, allowed, options.valueSchema ?? {}, (value) => {
    let parsed: unknown;
    try {
      parsed = JSON.parse(value);
    } catch {
      throw new VariableFault('it is not JSON');
    }
    return read(parsed);
  });
}

export function atMost<T>(maxItems: number, list: Variable<readonly T[]>): Variable<readonly T[]> {
  const parse = (text: string): readonly T[] => {
    const items = list.parse(text);
    if (items.length > maxItems) throw new VariableFault(`at most ${maxItems}`);
    return items;
  };
  return { ...list, valueSchema: { ...list.valueSchema, maxItems }, parse };
}

/** A text that is never shown, of at least `shortest` characters. */
export function secret(shortest: number, options: VariableOptions): Variable<string> {
  const parse = (value: string): string => parseSecret(value, shortest);
  const allowed = `a secret of at least ${shortest} characters without spaces`;
  const schema = { ...matchingSchema('\\S+'), minLength: shortest };
  return defineVariable(options, allowed, schema, parse, true);
}

export function secretList(
  shortest: number,
  options: VariableOptions,
): Variable<readonly string[]> {
  const allowed = `comma-separated secrets of at least ${shortest} characters without spaces`;
  const parse = (item: string): string => parseSecret(item, shortest);
  const schema = { ...matchingSchema('[^\\s,]+'), minLength: shortest };
  return defineList(options, allowed, schema, parse, { isSecret: true });
}

/** Comma-separated texts with a secret in each, which match a pattern. */
export function matchingSecretList(
  pattern: RegExp,
  allowed: string,
  options: VariableOptions,
): Variable<readonly string[]> {
  const parse = (item: string): string => matched(item, pattern);
  const schema = { type: 'string', pattern: pattern.source };
  return defineList(options, allowed, schema, parse, { isSecret: true });
}

export function hexKey(bytes: number, options: VariableOptions): Variable<string> {
  const parse = (value: string): string => parseHex(value, bytes);
  return defineVariable(options, `${bytes * 2} hexadecimal digits`, hexSchema(bytes), parse, true);
}

export function hexKeyList(
  bytes: number,
  most: number,
  options: VariableOptions,
): Variable<readonly string[]> {
  const allowed = `at most ${most} comma-separated secrets of ${bytes * 2} hexadecimal digits`;
  const parse = (item: string): string => parseHex(item, bytes);
  return defineList(options, allowed, hexSchema(bytes), parse, { most, isSecret: true });
}

function hexSchema(bytes: number): ValueSchema {
  return matchingSchema(`[0-9a-fA-F]{${bytes * 2}}`);
}

function parseHex(value: string, bytes: number): string {
  if (value.length !== bytes * 2) throw new VariableFault();
  return matched(value, /^[0-9a-f]+$/i).toLowerCase();
}

function parseSecret(value: string, shortest: number): string {
  if (value.length < shortest) throw new VariableFault();
  return matched(value, /^\S+$/);
}

function matched(value: string, pattern: RegExp): string {
  if (!pattern.test(value)) throw new VariableFault();
  return value;
}
