import { Readable } from 'node:stream';
import type { Environment } from '../context.js';
import { run } from '../run.js';
import { Terminal } from '../terminal.js';

export interface Ended {
  readonly code: number;
  /** Lines of stdout and stderr. */
  readonly out: readonly string[];
  readonly errors: readonly string[];
}

/** Runs a command of `weir` in this process. @param input chunks of its standard input */
export async function runWeir(
  argv: readonly string[],
  environment: Environment = {},
  input: readonly string[] = [],
): Promise<Ended> {
  let [out, errors] = ['', ''];
  const terminal = new Terminal(
    { write: (text) => (out += text) },
    { write: (text) => (errors += text) },
  );
  const { signal } = new AbortController();
  const code = await run(argv, {
    environment,
    terminal,
    input: Readable.from(input.map((text) => Buffer.from(text))),
    interrupted: () => signal,
  });
  const lines = (text: string) => text.split('\n').slice(0, -1);
  return { code, out: lines(out), errors: lines(errors) };
}
