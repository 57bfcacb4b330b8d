import { spawnSync } from 'node:child_process';
import { ChartError } from './chart-error.js';
import { helmProgram, type HelmVersion } from './helm-program.js';

const MAX_OUTPUT_BYTES = 2 ** 26;

/** Neither a cluster nor settings of the user have a part in what Helm answers. */
export const HELM_ENVIRONMENT: Readonly<Record<string, string>> = {
  HOME: '/nonexistent',
  KUBECONFIG: '/dev/null',
};

/**
 * What Helm prints. Values come from standard input with `--values=-`.
 * @throws ChartError with the message of Helm.
 */
export function runHelm(version: HelmVersion, args: readonly string[], values?: object): string {
  const { status, stdout, stderr, error } = spawnSync(helmProgram(version), args, {
    input: JSON.stringify(values ?? {}),
    encoding: 'utf8',
    env: HELM_ENVIRONMENT,
    maxBuffer: MAX_OUTPUT_BYTES,
  });
  if (error) throw error;
  // `helm lint` prints what it finds to the standard output.
  if (status !== 0) throw new ChartError(`${stdout}${stderr}`.trim());
  return stdout;
}
