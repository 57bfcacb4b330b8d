import { spawn } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { expect } from 'vitest';

const MAIN = fileURLToPath(new URL('../../dist/main.js', import.meta.url));

/** Longest wait for a start on a busy machine. */
const READY_MS = 120_000;

interface Started {
  readonly dns: {
    readonly address: string;
    readonly port: number;
    /** 0: off. */
    readonly tlsPort: number;
    readonly httpsPort: number;
  };
  readonly opsPort: number;
}

/** A resolver process and its output. `exited` resolves to its exit code. The caller must stop it. */
export function startResolverProcess(
  environment: Readonly<Record<string, string>>,
  ...args: string[]
) {
  const child = spawn(process.execPath, [MAIN, ...args], { env: environment });
  const output = { text: '', errors: '' };
  child.stdout.on('data', (chunk: Buffer) => (output.text += chunk.toString()));
  child.stderr.on('data', (chunk: Buffer) => (output.errors += chunk.toString()));
  const exited = new Promise<number | null>((resolve) => child.once('close', resolve));
  const logged = () =>
    output.text
      .split('\n')
      .slice(0, -1)
      .map((line) => JSON.parse(line) as { msg: string } & Partial<Started>);
  /** Resolves once it has a configuration. */
  const ready = async (): Promise<Started> => {
    // It loads the programs of several threads.
    const messages = () => logged().map(({ msg }) => msg);
    await expect.poll(messages, { timeout: READY_MS }).toContain('ready');
    return logged().find(({ msg }) => msg === 'ready') as unknown as Started;
  };
  return { child, output, exited, ready };
}
