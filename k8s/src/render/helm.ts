import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { ChartError } from './chart-error.js';
import type { Release } from './release.js';

const MAX_OUTPUT_BYTES = 2 ** 26;

export function hasHelm(): boolean {
  return spawnSync('helm', ['version']).status === 0;
}

/** Returns the objects as one YAML stream. @throws ChartError with the message of Helm. */
export function runHelm(
  chart: string,
  values: readonly object[],
  release: Release,
  kubeVersion: string,
): string {
  const folder = mkdtempSync(join(tmpdir(), 'weir-chart-'));
  try {
    const files = values.map((one, i) => {
      const file = join(folder, `${i}.json`);
      writeFileSync(file, JSON.stringify(one));
      return `--values=${file}`;
    });
    const { name, namespace, isUpgrade } = release;
    const flags = [`--namespace=${namespace}`, `--kube-version=${kubeVersion}`, ...files];
    if (isUpgrade) flags.push('--is-upgrade');
    const { status, stdout, stderr } = spawnSync('helm', ['template', name, chart, ...flags], {
      encoding: 'utf8',
      maxBuffer: MAX_OUTPUT_BYTES,
    });
    if (status !== 0) throw new ChartError(stderr.trim());
    return stdout;
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}
