import { StartError } from '@weir/ops';
import { parseArgs, type ParseArgsOptionsConfig } from 'node:util';
import { fail, print } from './output.js';

type OptionValues<T extends ParseArgsOptionsConfig> = ReturnType<
  typeof parseArgs<{ args: string[]; options: T }>
>['values'];

/**
 * The options that a command was given, each as it was written.
 * @param options each of them: with a value (`string`) or without (`boolean`)
 * @throws StartError with one line for an option that the command does not have, or has with a value
 */
export function readOptions<T extends ParseArgsOptionsConfig>(
  args: readonly string[],
  options: T,
): OptionValues<T> {
  try {
    return parseArgs({ args: [...args], options }).values;
  } catch (error) {
    throw new StartError(`${(error as Error).message} (see --help)`);
  }
}

/** The value of the option `name`. @throws StartError unless it is an integer from `lowest` to `highest` */
export function integerOption(name: string, text: string, lowest: number, highest: number): number {
  const value = /^\d+$/.test(text) ? Number(text) : Number.NaN;
  if (value >= lowest && value <= highest) return value;
  throw new StartError(`--${name}: "${text}" is not an integer from ${lowest} to ${highest}`);
}

/** The value of the option `name`. @throws StartError unless it is above 0 and at most 1 */
export function shareOption(name: string, text: string): number {
  const value = Number(text);
  if (value > 0 && value <= 1) return value;
  throw new StartError(`--${name}: "${text}" is not a number above 0 and at most 1`);
}

/** The member of `known` with that name, in any case. @throws StartError when there is none */
export function nameOption<T extends string>(name: string, text: string, known: readonly T[]): T {
  const wanted = text.trim().toLowerCase();
  const found = known.find((one) => one.toLowerCase() === wanted);
  if (found === undefined) throw new StartError(`--${name}: there is no "${text}" (see --help)`);
  return found;
}

/** The members of `known` with these names, which are separated by commas. @throws StartError when one is not there */
export function namesOption<T extends string>(
  name: string,
  text: string,
  known: readonly T[],
): T[] {
  return text.split(',').map((one) => nameOption(name, one, known));
}

/**
 * What a command is to do, or a text for its user: the help, or what is wrong with the options.
 * @param read returns null when help was asked for, and throws an error of one line
 */
export function optionsOrText<T>(
  help: string,
  read: () => T | null,
): T | { readonly help: string } | { readonly error: string } {
  try {
    return read() ?? { help };
  } catch (error) {
    return { error: `${error instanceof Error ? error.message : String(error)}\n\n${help}` };
  }
}

/** The values of the options. The process ends here when help was asked for, or when an option is wrong. */
export function optionsOrExit<T extends ParseArgsOptionsConfig, V>(
  help: string,
  options: T,
  convert: (values: OptionValues<T>) => V,
): V {
  const result = optionsOrText<{ readonly values: V }>(help, () => {
    const all = { ...options, help: { type: 'boolean', short: 'h' } } as const;
    const values: { readonly help?: boolean } & OptionValues<T> = readOptions(
      process.argv.slice(2),
      all,
    );
    return values.help === true ? null : { values: convert(values) };
  });
  if ('values' in result) return result.values;
  if ('help' in result) print(result.help);
  else fail(result.error);
  process.exit();
}
