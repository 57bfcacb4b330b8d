import { existsSync } from 'node:fs';
import { delimiter, join } from 'node:path';

declare module 'vitest' {
  interface TaskMeta {
    /** What the machine lacks, if the test is skipped. */
    needs?: string;
  }
}

/** Options of `it` and `describe`. A test that is skipped is named at the end of the run, and fails it in CI. */
export interface Needs {
  readonly skip: boolean;
  readonly meta: { readonly needs?: string };
}

/** A test that needs programs on PATH. */
export function needs(...programs: readonly string[]): Needs {
  const missing = programs.filter((program) => !isInstalled(program));
  return needsThat(missing.length === 0, missing.join(', '));
}

/** A test that needs something else of the machine. @param what in words */
export function needsThat(isThere: boolean, what: string): Needs {
  return isThere ? { skip: false, meta: {} } : { skip: true, meta: { needs: what } };
}

function isInstalled(program: string): boolean {
  const folders = (process.env.PATH ?? '').split(delimiter);
  return folders.some((folder) => existsSync(join(folder, program)));
}
