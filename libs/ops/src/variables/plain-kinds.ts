import { defineVariable, splitList, type VariableOptions } from './define-variable.js';
import * as valueSchemas from './value-schemas.js';
import { type ValueSchema, type Variable, VariableFault } from './variable.js';

/** A whole number from `lowest` to `highest`. */
export function integer(
  lowest: number,
  highest: number,
  options: VariableOptions,
): Variable<number> {
  const allowed = `a whole number from ${lowest} to ${highest}`;
  return defineVariable(options, allowed, valueSchemas.integer(lowest, highest), (text) =>
    parseInteger(text, lowest, highest),
  );
}

/** A decimal number from `lowest` to `highest`. */
export function decimal(
  lowest: number,
  highest: number,
  options: VariableOptions,
): Variable<number> {
  const allowed = `a number from ${lowest} to ${highest}`;
  return defineVariable(options, allowed, valueSchemas.decimal(lowest, highest), (text) => {
    const parsed = /^\d{1,15}(\.\d{1,15})?$/.test(text) ? Number(text) : Number.NaN;
    if (!(parsed >= lowest && parsed <= highest)) throw new VariableFault();
    return parsed;
  });
}

/** A port to listen on. Unless `lowest` excludes it, 0 is allowed and means any free port. */
export function port(
  options: VariableOptions & { readonly lowest?: number; readonly highest?: number },
): Variable<number> {
  const { lowest = 0, highest = 65535 } = options;
  const allowed = `a port number from ${lowest} to ${highest}`;
  return defineVariable(options, allowed, valueSchemas.integer(lowest, highest), (text) =>
    parseInteger(text, lowest, highest),
  );
}

/** Any text, unchanged. */
export function text(allowed: string, options: VariableOptions): Variable<string> {
  return defineVariable(options, allowed, valueSchemas.TEXT, (value) => value);
}

/** A text of at most `longest` characters that matches a pattern. */
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
    if (value.length > longest || !pattern.test(value)) throw new VariableFault();
    return value;
  });
}

/** Comma-separated names of files, without an extension. */
export function nameList(options: VariableOptions): Variable<readonly string[]> {
  const name = /^[a-z0-9][a-z0-9-]*$/;
  const schema = valueSchemas.listOf({ type: 'string', pattern: name.source });
  const allowed = 'comma-separated names of lower-case letters, digits and hyphens';
  return defineVariable(options, allowed, schema, (value) => {
    const items = splitList(value);
    if (!items.every((item) => name.test(item))) throw new VariableFault();
    return items;
  });
}

/** `true` or `false`. */
export function boolean(options: VariableOptions): Variable<boolean> {
  return defineVariable(options, 'true or false', valueSchemas.BOOLEAN, (value) => {
    if (value !== 'true' && value !== 'false') throw new VariableFault();
    return value === 'true';
  });
}

/** One of `choices`. */
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

/** A size in bytes: digits, or digits with kb, mb or gb (1024 each). */
export function byteSize(options: VariableOptions): Variable<number> {
  const allowed = 'a size such as 512kb, 8mb or a number of bytes';
  return defineVariable(options, allowed, valueSchemas.BYTE_SIZE, (value) => {
    const match = /^(\d{1,12})(kb|mb|gb|b)?$/i.exec(value);
    if (!match) throw new VariableFault();
    const unit = { b: 1, kb: 1024, mb: 1024 ** 2, gb: 1024 ** 3 }[(match[2] ?? 'b').toLowerCase()];
    return Number(match[1]) * (unit ?? 1);
  });
}

/** An IANA time zone. */
export function timeZone(options: VariableOptions): Variable<string> {
  const allowed = 'an IANA time zone such as UTC or Europe/London';
  return defineVariable(options, allowed, valueSchemas.TIME_ZONE, (value) => {
    if (!/^[A-Za-z]/.test(value)) throw new VariableFault();
    try {
      return new Intl.DateTimeFormat('en', { timeZone: value }).resolvedOptions().timeZone;
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

function parseInteger(value: string, lowest: number, highest: number): number {
  const parsed = /^\d{1,15}$/.test(value) ? Number(value) : Number.NaN;
  if (!(parsed >= lowest && parsed <= highest)) throw new VariableFault();
  return parsed;
}

/** A list of at most so many items. */
export function atMost<T>(maxItems: number, list: Variable<readonly T[]>): Variable<readonly T[]> {
  const parse = (text: string): readonly T[] => {
    const items = list.parse(text);
    if (items.length > maxItems) throw new VariableFault(`at most ${maxItems}`);
    return items;
  };
  return { ...list, valueSchema: { ...list.valueSchema, maxItems }, parse };
}
