import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { CHART_FOLDER } from './paths.js';
import { runHelm } from './render/helm.js';
import { HELM_VERSIONS } from './render/helm-program.js';
import { render } from './render/render.js';
import { ciValues } from './render/values.js';

const FILES = readdirSync(join(CHART_FOLDER, 'ci'));

describe.each(HELM_VERSIONS)('Helm %i', (version) => {
  it('is the program of that version', () => {
    expect(runHelm(version, ['version', '--template={{.Version}}'])).toMatch(
      new RegExp(`^v${version}\\.`),
    );
  });

  it.each(FILES)('finds no fault in the chart with the values of %s', (file) => {
    const lint = runHelm(version, [
      'lint',
      '--strict',
      `--values=${join(CHART_FOLDER, 'ci', file)}`,
      CHART_FOLDER,
    ]);
    expect(lint).toContain('1 chart(s) linted, 0 chart(s) failed');
    expect(lint).not.toMatch(/WARNING|ERROR/);
  });

  it.each(FILES)('renders the values of %s', (file) => {
    const values = ciValues(file.replace('-values.yaml', ''));
    expect(render({ values }, version).length).toBeGreaterThan(5);
  });
});
