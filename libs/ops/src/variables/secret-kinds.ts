import { defineVariable, splitList, type VariableOptions } from './define-variable.js';
import * as valueSchemas from './value-schemas.js';
import { type Variable, VariableFault } from './variable.js';

/** A text that is never shown, of at least `shortest` characters. */
export function secret(shortest: number, options: VariableOptions): Variable<string> {
  const parse = (value: string): string => parseSecret(value, shortest);
  const allowed = `a secret of at least ${shortest} characters without spaces`;
  return defineVariable(options, allowed, valueSchemas.secret(shortest), parse, true);
}

/** Comma-separated secrets of at least `shortest` characters each. */
export function secretList(
  shortest: number,
  options: VariableOptions,
): Variable<readonly string[]> {
  const allowed = `comma-separated secrets of at least ${shortest} characters without spaces`;
  const parse = (value: string): string[] =>
    splitList(value).map((item) => parseSecret(item, shortest));
  const schema = valueSchemas.listOf(valueSchemas.listedSecret(shortest));
  return defineVariable(options, allowed, schema, parse, true);
}

/** Comma-separated texts with a secret in each, which match a pattern. */
export function matchingSecretList(
  pattern: RegExp,
  allowed: string,
  options: VariableOptions,
): Variable<readonly string[]> {
  const parse = (value: string): string[] => {
    const items = splitList(value);
    if (!items.every((item) => pattern.test(item))) throw new VariableFault();
    return items;
  };
  const schema = valueSchemas.listOf({ type: 'string', pattern: pattern.source });
  return defineVariable(options, allowed, schema, parse, true);
}

/** A secret of exactly `bytes` bytes in hexadecimal. */
export function hexKey(bytes: number, options: VariableOptions): Variable<string> {
  const parse = (value: string): string => parseHex(value, bytes);
  const allowed = `${bytes * 2} hexadecimal digits`;
  return defineVariable(options, allowed, valueSchemas.hex(bytes), parse, true);
}

/** Comma-separated secrets of exactly `bytes` bytes each in hexadecimal, at most `most`. */
export function hexKeyList(
  bytes: number,
  most: number,
  options: VariableOptions,
): Variable<readonly string[]> {
  const allowed = `at most ${most} comma-separated secrets of ${bytes * 2} hexadecimal digits`;
  const parse = (value: string): string[] => {
    const items = splitList(value);
    if (items.length > most) throw new VariableFault();
    return items.map((item) => parseHex(item, bytes));
  };
  const schema = valueSchemas.listOf(valueSchemas.hex(bytes), most);
  return defineVariable(options, allowed, schema, parse, true);
}

function parseHex(value: string, bytes: number): string {
  if (value.length !== bytes * 2 || !/^[0-9a-f]+$/i.test(value)) throw new VariableFault();
  return value.toLowerCase();
}

function parseSecret(value: string, shortest: number): string {
  if (value.length < shortest || /\s/.test(value)) throw new VariableFault();
  return value;
}
