import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { needs } from '@weir/ops/testing';
import { describe, expect, it } from 'vitest';
import { dashboard } from './dashboard.js';

interface Shown {
  readonly title: string;
  readonly targets: readonly { readonly expr: string }[];
}

const { panels } = dashboard() as { readonly panels: readonly Shown[] };

/** Expression of the first query of a panel, as Grafana sends it for all resolvers. */
function expressionOf(title: string, namespace: string): string {
  const [{ expr }] = panels.find((one) => one.title === title)!.targets;
  const values = { $namespace: namespace, $instance: '.+', $__rate_interval: '5m' };
  return Object.entries(values).reduce((text, [name, value]) => text.replaceAll(name, value), expr);
}

/** What promtool finds wrong when a panel should show one number. @param series values of each minute */
function faultsOf(
  title: string,
  series: Readonly<Record<string, string>>,
  value: number,
  namespace = '.*',
): string {
  const folder = mkdtempSync(join(tmpdir(), 'weir-dashboard-'));
  try {
    const file = join(folder, 'test.json');
    const labels = title.includes('upstream') ? '{upstream="192.0.2.53:53"}' : '{}';
    const test = {
      interval: '1m',
      input_series: Object.entries(series).map(([name, values]) => ({ series: name, values })),
      promql_expr_test: [
        {
          expr: expressionOf(title, namespace),
          eval_time: '10m',
          exp_samples: [{ labels, value }],
        },
      ],
    };
    writeFileSync(file, JSON.stringify({ rule_files: [], tests: [test] }));
    const { status, stdout, stderr } = spawnSync('promtool', ['test', 'rules', file], {
      encoding: 'utf8',
    });
    return status === 0 ? '' : stdout + stderr;
  } finally {
    rmSync(folder, { recursive: true });
  }
}

describe('the dashboard', needs('promtool'), () => {
  const QUERIES = 'weir_resolver_queries_total{verdict="permit",rcode="NOERROR"}';

  it.each(['Blocked queries', 'SERVFAIL answers'])('shows 0 for %s before the first', (title) => {
    expect(faultsOf(title, { [QUERIES]: '0+60x20' }, 0)).toBe('');
  });

  it('shows the deployment of one namespace, or all, with and without a namespace', () => {
    const ready = (namespace: string) => `weir_ready{job="weir-resolver"${namespace}}`;
    const series = { [ready(',namespace="dns"')]: '2x20', [ready(',namespace="trial"')]: '3x20' };
    const title = 'Resolvers ready';
    expect(faultsOf(title, series, 2, 'dns')).toBe('');
    expect(faultsOf(title, series, 5)).toBe('');
    expect(faultsOf(title, { [ready('')]: '1x20' }, 1)).toBe('');
  });

  it('confines every metric to the namespace', () => {
    for (const { targets = [] } of panels)
      for (const { expr } of targets) {
        const metrics = expr.match(/\b(?:weir|process|nodejs)_\w+/g) ?? [];
        expect(metrics.length, expr).toBeGreaterThan(0);
        expect(expr.match(/\{namespace=~"\$namespace"[,}]/g), expr).toHaveLength(metrics.length);
      }
  });

  it('counts probes among what is sent to an upstream in one batch', () => {
    const upstream = 'instance="a",upstream="192.0.2.53:53"';
    const series = {
      [`weir_resolver_upstream_queries_total{${upstream}}`]: '0+60x20',
      [`weir_resolver_upstream_probes_total{${upstream},result="sent"}`]: '0+60x20',
      [`weir_resolver_upstream_probes_total{${upstream},result="answered"}`]: '0+60x20',
      [`weir_resolver_upstream_batches_total{${upstream}}`]: '0+120x20',
    };
    expect(faultsOf('Queries to an upstream in one batch', series, 1)).toBe('');
  });
});
