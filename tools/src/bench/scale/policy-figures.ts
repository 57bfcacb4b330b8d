import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { promisify } from 'node:util';
import type { Size } from '../../../bench/policy/configuration.mjs';

/** What tools/bench/policy/measure.mjs prints: the policy by itself, in a process of its own. */
export interface PolicyFigures {
  readonly size: Size;
  /** By outcome, in ns. Hashing the name comes on top of a decision. */
  readonly decide: Readonly<Record<string, { readonly decideNs: number; readonly hashNs: number }>>;
  /** Bytes by part. */
  readonly memory: Readonly<Record<string, number>>;
  readonly catalogueBytes: number;
  /** By kind and operation. */
  readonly changes: Readonly<Record<string, Readonly<Record<string, { readonly meanUs: number }>>>>;
}

const MAX_OUTPUT_BYTES = 2 ** 26;

export async function measurePolicy(root: string, scale: number): Promise<PolicyFigures> {
  const script = join(root, 'tools/bench/policy/measure.mjs');
  const args = ['--max-old-space-size=8000', script, String(scale)];
  const options = { maxBuffer: MAX_OUTPUT_BYTES };
  const { stdout } = await promisify(execFile)(process.execPath, args, options);
  return JSON.parse(stdout) as PolicyFigures;
}
