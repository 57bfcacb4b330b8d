import { StartError, VariableError } from '@weir/ops';
import { mkdtempSync, rmSync } from 'node:fs';
import { mkdtempDisposable } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';

/** Prints a line of the result. */
export function print(text: string): void {
  process.stdout.write(`${text}\n`);
}

/** A line on how far the run is, for whoever waits. */
export function progress(text: string): void {
  process.stderr.write(`${text}\n`);
}

/** The command ends with an error. */
export function fail(reason: string): void {
  process.stderr.write(`${reason}\n`);
  process.exitCode = 1;
}

/**
 * Runs a suite, which writes its data and logs to a folder of its own. The folder is kept when the suite has failed.
 * @param run returns whether nothing was wrong. `ended` is aborted when the user ends the command.
 */
export async function runSuite(
  name: string,
  run: (folder: string, ended: AbortController) => Promise<boolean>,
): Promise<void> {
  const folder = mkdtempSync(join(tmpdir(), `weir-${name}-`));
  print(`logs in ${folder}`);
  const ended = new AbortController();
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) {
    const reason = new StartError(`ended by ${signal}, logs in ${folder}`);
    process.once(signal, () => ended.abort(reason));
  }
  try {
    if (await run(folder, ended)) rmSync(folder, { recursive: true, force: true });
    else {
      print(`Logs in ${folder}`);
      process.exitCode = 1;
    }
  } catch (error) {
    fail(textOf(error));
  }
  // Calls under way of a run that ended early would keep the process alive for a minute.
  process.exit();
}

/** What people need to see of an error: of one that was followed by another at the stop of what it used, both. */
function textOf(error: unknown): string {
  if (error instanceof SuppressedError) {
    return `${textOf(error.suppressed)}\n${textOf(error.error)}`;
  }
  const isExpected = error instanceof StartError || error instanceof VariableError;
  return isExpected ? error.message : ((error as Error).stack ?? String(error));
}

/** Runs `work` with a temporary folder of its own. */
export async function inFolder<T>(name: string, work: (folder: string) => Promise<T>): Promise<T> {
  await using folder = await mkdtempDisposable(join(tmpdir(), `weir-${name}-`));
  return await work(folder.path);
}

/** An option with a value (`string`) or without (`boolean`). */
export interface Option<T> {
  readonly type: 'string' | 'boolean';
  /** @param text the value; undefined when the option was not given. @throws Error that says what is wrong with it */
  read(text: string | undefined): T;
}

export const flag: Option<boolean> = { type: 'boolean', read: (text) => text !== undefined };

/** An option whose value is converted. @param otherwise what it is when it was not given */
export function value<T, O>(convert: (text: string) => T, otherwise: O): Option<T | O> {
  return { type: 'string', read: (text) => (text === undefined ? otherwise : convert(text)) };
}

/** Converts an integer. */
export const integer =
  (lowest: number, highest: number) =>
  (text: string): number => {
    const number = Number(text);
    if (/^\d+$/.test(text) && number >= lowest && number <= highest) return number;
    throw new StartError(`"${text}" is not an integer from ${lowest} to ${highest}`);
  };

/** Converts a number above 0 and at most 1. */
export function share(text: string): number {
  const number = Number(text);
  if (number > 0 && number <= 1) return number;
  throw new StartError(`"${text}" is not a number above 0 and at most 1`);
}

/** Converts a name, in any case, to the member of `known`. */
export const name =
  <T extends string>(known: readonly T[]) =>
  (text: string): T => {
    const found = known.find((one) => one.toLowerCase() === text.trim().toLowerCase());
    if (found === undefined) throw new StartError(`there is no "${text}"`);
    return found;
  };

/** Converts values that are separated by commas. */
export const list =
  <T>(convert: (text: string) => T) =>
  (text: string): readonly T[] =>
    text.split(',').map(convert);

type Options<T> = { readonly [K in keyof T]: Option<T[K]> };

/** @returns null when help was asked for. @throws StartError with one line when an option is wrong */
export function parseOptions<T>(options: Options<T>, args: readonly string[]): T | null {
  const known = Object.entries<Option<unknown>>(options);
  const config = Object.fromEntries(known.map(([key, { type }]) => [key, { type }]));
  let values: ReturnType<typeof parseArgs>['values'];
  try {
    ({ values } = parseArgs({
      args: [...args],
      options: { ...config, help: { type: 'boolean', short: 'h' } },
    }));
  } catch (error) {
    throw new StartError(`${(error as Error).message} (see --help)`);
  }
  if (values['help'] === true) return null;
  const entries = known.map(([key, option]) => {
    const given = values[key];
    try {
      return [key, option.read(given === undefined ? undefined : String(given))];
    } catch (error) {
      throw new StartError(`--${key}: ${(error as Error).message} (see --help)`);
    }
  });
  return Object.fromEntries(entries) as T;
}

/** The options of this process, which ends here when help was asked for, or when an option is wrong. */
export function optionsOrExit<T>(help: string, options: Options<T>): T {
  try {
    const values = parseOptions(options, process.argv.slice(2));
    if (values !== null) return values;
    print(help);
  } catch (error) {
    fail((error as Error).message);
  }
  process.exit();
}
