import { execFile } from 'node:child_process';
import { fileURLToPath } from 'node:url';

const root = fileURLToPath(new URL('../../../..', import.meta.url));

/** Runs the compiled fault suite of the working tree. Its report, with the seed, also goes to the terminal. */
export function runFaults(...args: string[]): Promise<{ code: number | null; output: string }> {
  const suite = ['tools/dist/faults/main.js', ...args];
  return new Promise((resolve) => {
    const child = execFile(
      process.execPath,
      suite,
      { cwd: root, maxBuffer: 2 ** 26 },
      (_error, stdout, stderr) => {
        resolve({ code: child.exitCode, output: stdout + stderr });
      },
    );
    child.stdout?.pipe(process.stdout);
    child.stderr?.pipe(process.stdout);
  });
}
