import { expect, it } from 'vitest';
import { readRules } from '../alerts/testing/rules.js';
import { ROWS } from '../dashboard/rows.js';
import { usedMetrics } from './testing/expression.js';
import { parseExposition } from './testing/exposition.js';

it('finds the metrics of an expression with the labels that it uses', () => {
  const expr =
    'sum by (a, b) (rate(weir_x_total{c="1",d!~"2"}[5m])) / ignoring (b) (weir_y > 0) and up == 1';
  expect(usedMetrics(expr)).toEqual([
    { name: 'weir_x_total', labels: ['a', 'b', 'c', 'd'] },
    { name: 'weir_y', labels: [] },
  ]);
});

it('parses the Prometheus text format', () => {
  const text = `# HELP weir_x_total X
# TYPE weir_x_total counter
weir_x_total{a="1",b="2"} 3
# TYPE weir_y gauge
# TYPE weir_z_seconds histogram
weir_z_seconds_bucket{le="0.1",a="1"} 4
weir_z_seconds_count{a="1"} 4
`;
  expect([...parseExposition(text)].map(([name, labels]) => [name, [...labels]])).toEqual([
    ['weir_x_total', ['a', 'b']],
    ['weir_y', []],
    ['weir_z_seconds_bucket', ['le', 'a']],
    ['weir_z_seconds_count', ['a']],
    ['weir_z_seconds_sum', []],
  ]);
});

it('the alerts and the dashboard take rates of counters only', () => {
  const panels = ROWS.flatMap((row) => row.panels);
  const expressions = [
    ...readRules().map(({ expr }) => expr),
    ...panels.flatMap(({ queries }) => queries.map(([expr]) => expr)),
  ];
  const grown = expressions.flatMap((expr) =>
    [...expr.matchAll(/\b(?:rate|increase)\((\w+)/g)].map(([, name]) => name),
  );
  expect(grown).toContain('weir_resolver_queries_total');
  expect(grown.filter((name) => !/_(?:total|count|sum|bucket)$/.test(name))).toEqual([]);
});
