import { StartError, VariableError } from '@weir/ops';
import { fail } from './output.js';

/** Aborts when the user ends the command. @param explain the line that the command ends with then */
export function abortOnSignal(
  controller: AbortController,
  explain: (signal: NodeJS.Signals) => string,
): void {
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) {
    process.once(signal, () => {
      controller.abort(new StartError(explain(signal)));
    });
  }
}

/** Runs a command. If it fails, the process ends with a line for the user, or with the stack of a defect. */
export async function runToEnd(command: () => Promise<void>): Promise<void> {
  try {
    await command();
  } catch (error) {
    const isExpected = error instanceof StartError || error instanceof VariableError;
    fail(isExpected ? error.message : ((error as Error).stack ?? String(error)));
    // Open HTTP calls of a failed run would keep the process alive for a minute.
    process.exit(1);
  }
}
