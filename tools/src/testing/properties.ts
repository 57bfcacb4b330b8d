// Setup file: a property that fails names the command that runs it again with the same values.
// FAST_CHECK_SEED and FAST_CHECK_PATH, which that command sets, go to each property of the run.
import fc from 'fast-check';
import { relative } from 'node:path';
import { expect } from 'vitest';

const { FAST_CHECK_SEED, FAST_CHECK_PATH } = process.env;

const parameters: fc.Parameters<unknown> = {
  ...(FAST_CHECK_SEED !== undefined && { seed: Number(FAST_CHECK_SEED) }),
  ...(FAST_CHECK_PATH !== undefined && { path: FAST_CHECK_PATH }),
  // installGlobalPlugin() would install it again for each file that a worker runs.
  plugins: [reproduction],
};
fc.configureGlobal(parameters);

function reproduction(): fc.PluginInstance<unknown> {
  return {
    onAllRunsComplete: (run) => {
      if (!run.failed) return;
      const message = `${fc.defaultReportMessage(run)}\n\nTo run it again: ${commandOf(run)}`;
      throw new Error(message, { cause: run.errorInstance });
    },
  };
}

function commandOf({ seed, counterexamplePath }: fc.RunDetails<unknown>): string {
  const { testPath, currentTestName } = expect.getState();
  const path = counterexamplePath === null ? '' : ` FAST_CHECK_PATH=${counterexamplePath}`;
  // Vitest takes the name as a pattern, and the shell takes it in quotes.
  const name = (currentTestName ?? '').replace(/[^\w\s>]/g, '.');
  const file = relative(process.cwd(), testPath ?? '');
  return `FAST_CHECK_SEED=${seed}${path} npm test -- ${file} -t '${name}'`;
}
