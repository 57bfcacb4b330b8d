import { CommanderError } from 'commander';
import { type Context, Failure, UsageError } from './context.js';
import { createProgram } from './program.js';

const DONE = 0;
const FAILED = 1;
const USAGE_ERROR = 2;

/** Runs one command. @returns the exit code. */
export async function run(argv: readonly string[], context: Context): Promise<0 | 1 | 2> {
  try {
    await createProgram(context).parseAsync([...argv], { from: 'user' });
    return DONE;
  } catch (error) {
    // The parser has printed what it says.
    if (error instanceof CommanderError) return error.exitCode === 0 ? DONE : USAGE_ERROR;
    for (const line of linesOf(error)) context.terminal.printError(`weir: ${line}`);
    return error instanceof UsageError ? USAGE_ERROR : FAILED;
  }
}

const FOR_USERS = ['StartError', 'VariableError', 'CatalogueError', 'UsageError'];

/** A line for each fault, or the stack of a defect. */
function linesOf(error: unknown): readonly string[] {
  if (error instanceof AggregateError && error.message === '') return linesOf(error.errors[0]);
  const { name, message, stack, code, faults } = error as NodeJS.ErrnoException & {
    faults?: string[];
  };
  if (error instanceof Failure) return message === '' ? [] : message.split('\n');
  if (faults !== undefined) return faults;
  const isForUser = FOR_USERS.includes(name) || code !== undefined;
  return (isForUser ? message : (stack ?? String(error))).split('\n');
}
