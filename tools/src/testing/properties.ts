// Setup file: a property that fails names the command that runs it again with the same values.
// FAST_CHECK_SEED and FAST_CHECK_PATH, which that command sets, go to each property of the run. The first run of a
// property and every second one after it have values that are always the same; the seed determines the others.
import fc from 'fast-check';
import { relative } from 'node:path';
import { expect } from 'vitest';

const { FAST_CHECK_SEED, FAST_CHECK_PATH } = process.env;

const parameters: fc.Parameters<unknown> = {
  ...(FAST_CHECK_SEED !== undefined && { seed: Number(FAST_CHECK_SEED) }),
  ...(FAST_CHECK_PATH !== undefined && { path: FAST_CHECK_PATH }),
  // installGlobalPlugin() would install it again for each file that a worker runs.
  plugins: [fixedValues, reproduction],
};
fc.configureGlobal(parameters);

function fixedValues(): fc.PluginInstance<unknown> {
  return {
    decorateGenerate: (generate) => (random, run) => {
      const isFixed = run !== undefined && run % 2 === 0;
      return generate(isFixed ? new fc.Random(new FixedNumbers(run)) : random, run);
    },
  };
}

/** Pseudo-random numbers (mulberry32). */
class FixedNumbers {
  constructor(private state: number) {}

  next(): number {
    this.state = (this.state + 0x6d2b79f5) | 0;
    let t = Math.imul(this.state ^ (this.state >>> 15), this.state | 1);
    t ^= t + Math.imul(t ^ (t >>> 7), t | 61);
    return (t ^ (t >>> 14)) | 0;
  }

  clone(): FixedNumbers {
    return new FixedNumbers(this.state);
  }

  /** Without it fast-check would take clones that share their state. */
  jump(): void {
    this.state = (this.state + 0x9e37_79b9) | 0;
  }

  getState(): readonly number[] {
    return [this.state];
  }
}

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
