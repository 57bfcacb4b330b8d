import { cpSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { stringify } from 'yaml';
import { describe, expect, it } from 'vitest';
import { CHART_FOLDER } from './paths.js';
import { HELM_VERSIONS } from '@weir/tools/release/helm-program';
import { runHelm, render } from './testing/render.js';
import { CI_VALUES, ciValues, overlay } from './testing/values.js';
import { valuesWith, WRONG_VALUES } from './values-schema/testing/wrong-values.js';

const MINIMAL = ciValues('minimal');

describe.each(HELM_VERSIONS)('Helm %i', (version) => {
  it('is the program of that version', () => {
    expect(runHelm(version, ['version', '--template={{.Version}}'])).toMatch(
      new RegExp(`^v${version}\\.`),
    );
  });

  it.each(CI_VALUES)('finds no fault in the chart with the %s values', (name) => {
    const file = join(CHART_FOLDER, 'ci', `${name}-values.yaml`);
    const found = runHelm(version, ['lint', '--strict', `--values=${file}`, CHART_FOLDER]);
    expect(found).toContain('1 chart(s) linted, 0 chart(s) failed');
    expect(found).not.toMatch(/WARNING|ERROR/);
  });

  it.each(CI_VALUES)('renders the %s values, for an install and for an upgrade', (name) => {
    const values = ciValues(name);
    const installed = render({ values }, version);
    expect(installed.length).toBeGreaterThan(5);
    expect(render({ values, isUpgrade: true }, version).length).toBeGreaterThanOrEqual(
      installed.length,
    );
  });

  it.each(WRONG_VALUES)('refuses %s, and names it', (_what, path, value) => {
    const values = overlay(MINIMAL, valuesWith(path, value));
    const [key] = path.split('.').slice(-1);
    expect(() => render({ values }, version)).toThrow(
      new RegExp(`values don't meet the specifications of the schema[^]*\\b${key}\\b`),
    );
  });

  it.each([
    ['image.registry', { image: { registry: '' } }],
    ['resolver.env.UPSTREAMS', { resolver: { env: { UPSTREAMS: null } } }],
    ['DATABASE_URL', { secrets: { existing: '' } }],
    ['resolver.env.FEED_URL', { controlPlane: { enabled: false } }],
  ])('says in one line that %s is missing', (name, missing) => {
    const values = overlay(MINIMAL, missing);
    expect(() => render({ values }, version)).toThrow(
      new RegExp(`^Error: execution error .*: ${name} is (?:required|not set).*$`, 'm'),
    );
  });

  it('renders the chart in another one that turns it on or off', () => {
    const folder = mkdtempSync(join(tmpdir(), 'weir-parent-'));
    try {
      const dependencies = [{ name: 'weir', version: '*', condition: 'weir.enabled' }];
      const parent = { apiVersion: 'v2', name: 'parent', version: '1.0.0', dependencies };
      writeFileSync(join(folder, 'Chart.yaml'), stringify(parent));
      cpSync(CHART_FOLDER, join(folder, 'charts', 'weir'), { recursive: true });
      const text = (enabled: boolean): string =>
        runHelm(version, ['template', 'isp', folder, '--values=-'], {
          global: { company: 'example' },
          weir: { ...MINIMAL, enabled },
        });
      expect(text(true)).toContain('name: isp-weir-resolver');
      expect(text(false)).not.toContain('kind:');
    } finally {
      rmSync(folder, { recursive: true });
    }
  });
});
