import { needs } from '@weir/ops/testing';
import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { stringify } from 'yaml';
import { type AlertCase, readCases } from './testing/cases.js';
import { type AlertRule, readRules, RULES_FILE } from './testing/rules.js';

const rules = readRules();

function run(...args: string[]): { readonly ok: boolean; readonly output: string } {
  const { status, stdout, stderr } = spawnSync('promtool', args, { encoding: 'utf8' });
  return { ok: status === 0, output: `${stdout}${stderr}` };
}

/** The annotations of a firing alert, with its labels and its value filled in. */
function filledIn(rule: AlertRule, { raised, value }: AlertCase): Record<string, string> {
  const fill = (text: string): string =>
    text
      .replaceAll(/\{\{ \$labels\.(\w+) \}\}/g, (_, name: string) => raised?.[name] ?? `no ${name}`)
      .replaceAll(/\{\{ \$value [^}]*\}\}/g, value ?? 'no value');
  return Object.fromEntries(Object.entries(rule.annotations).map(([k, v]) => [k, fill(v)]));
}

const ruleOf = ({ alert }: AlertCase): AlertRule => rules.find((rule) => rule.alert === alert)!;

function promtoolTest(one: AlertCase): object {
  const rule = ruleOf(one);
  const alert = {
    exp_labels: { ...rule.labels, ...one.raised },
    exp_annotations: filledIn(rule, one),
  };
  const expected = one.raised === null ? [] : [alert];
  return {
    interval: '1m',
    input_series: Object.entries(one.series).map(([series, values]) => ({ series, values })),
    alert_rule_test: [{ eval_time: `${one.at}m`, alertname: one.alert, exp_alerts: expected }],
  };
}

describe('alerts.yaml', needs('promtool'), () => {
  it('has rules that promtool accepts', () => {
    expect(run('check', 'rules', RULES_FILE)).toMatchObject({ ok: true });
  });

  const cases = readCases().map((one, i) => {
    return { ...one, number: i + 1, fires: one.raised === null ? 'does not fire' : 'fires' };
  });

  it.each(cases)('$alert $fires in case $number', (one) => {
    const folder = mkdtempSync(join(tmpdir(), 'weir-alerts-'));
    try {
      // This rule alone: promtool evaluates all rules of a file for every minute of a case.
      const groups = [{ name: 'tested', rules: [ruleOf(one)] }];
      writeFileSync(join(folder, 'rules.yaml'), stringify({ groups }));
      const file = join(folder, 'test.yaml');
      const tests = [promtoolTest(one)];
      const test = { rule_files: ['rules.yaml'], evaluation_interval: '1m', tests };
      writeFileSync(file, stringify(test));
      expect(run('test', 'rules', file)).toMatchObject({ ok: true });
    } finally {
      rmSync(folder, { recursive: true });
    }
  });
});
