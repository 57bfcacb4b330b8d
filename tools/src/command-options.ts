import { StartError } from '@weir/ops';
import { parseArgs, type ParseArgsOptionsConfig } from 'node:util';

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
  throw new StartError(`--${name} is an integer from ${lowest} to ${highest}`);
}

/** The member of `known` with that name. @throws StartError when there is none */
export function namedOption<T extends { readonly name: string }>(
  name: string,
  text: string,
  known: readonly T[],
): T {
  const found = known.find((one) => one.name === text);
  if (found === undefined) throw new StartError(`--${name}: there is no ${text} (see --help)`);
  return found;
}
