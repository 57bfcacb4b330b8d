import { type ValueSchema, type Variable, VariableFault } from './variable.js';

/** Options of every kind of variable. */
export interface VariableOptions {
  readonly description: string;
  readonly default?: string;
}

export function defineVariable<T>(
  options: VariableOptions,
  allowed: string,
  valueSchema: ValueSchema,
  parse: (text: string) => T,
  secret = false,
): Variable<T> {
  const { description, default: defaultText } = options;
  return { description, default: defaultText, allowed, secret, valueSchema, parse };
}

/** The items of a comma-separated text. */
export function splitList(value: string): string[] {
  const items = value.split(',').map((item) => item.trim());
  if (items.includes('')) throw new VariableFault('an item is empty');
  return items;
}

/** A value in a message. */
export function bounded(value: string): string {
  return value.length > 60 ? `${value.slice(0, 60)}…` : value;
}
