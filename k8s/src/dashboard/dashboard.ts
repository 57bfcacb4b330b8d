import type { Panel } from './panel.js';
import { ROWS } from './rows.js';

const DATASOURCE = { type: 'prometheus', uid: '${datasource}' };
/** Columns of Grafana's grid. */
const COLUMNS = 24;
const STAT = { width: 4, height: 4 };
const QUERY_NAMES = 'ABCDEFGH';
const GRAPH = { width: 8, height: 8 };

/** A variable whose default is all values. @param all regular expression that matches all, and no label where it may */
const variable = (name: string, label: string, query: string, all: string): object => ({
  ...{ name, label, type: 'query', datasource: DATASOURCE, query: { query, refId: name } },
  ...{ refresh: 2, includeAll: true, allValue: all, multi: true },
  current: { text: ['All'], value: ['$__all'] },
});

const RESOLVERS = 'weir_resolver_revision{namespace=~"$namespace"}';
const VARIABLES = [
  { name: 'datasource', label: 'Prometheus', type: 'datasource', query: 'prometheus' },
  // Outside of Kubernetes there is no such label.
  variable('namespace', 'Namespace', 'label_values(weir_ready, namespace)', '.*'),
  variable('instance', 'Resolver', `label_values(${RESOLVERS}, instance)`, '.+'),
];

/** Confines each metric of an expression to the deployments that the variable `namespace` names. */
const inNamespace = (expr: string): string =>
  expr.replaceAll(
    /\b((?:weir|process|nodejs)_\w+)(\{)?/g,
    (_, metric: string, brace?: string) =>
      `${metric}{namespace=~"$namespace"${brace === undefined ? '}' : ','}`,
  );

/** The dashboard as Grafana imports it. */
export function dashboard(): object {
  return {
    uid: 'weir',
    title: 'Weir',
    tags: ['weir'],
    schemaVersion: 39,
    editable: true,
    refresh: '30s',
    time: { from: 'now-6h', to: 'now' },
    templating: { list: VARIABLES },
    panels: layOut(),
  };
}

/** Places rows from top to bottom, and the panels of a row from left to right. */
function layOut(): object[] {
  const panels: object[] = [];
  let y = 0;
  for (const row of ROWS) {
    const gridPos = { x: 0, y: y++, w: COLUMNS, h: 1 };
    panels.push({ id: panels.length + 1, type: 'row', title: row.title, gridPos, panels: [] });
    let x = 0;
    let rowHeight = 0;
    for (const panel of row.panels) {
      const { width, height } = panel.isStat ? STAT : GRAPH;
      if (x + width > COLUMNS) {
        x = 0;
        y += rowHeight;
      }
      const place = { x, y, w: width, h: height };
      panels.push({ id: panels.length + 1, ...describe(panel), gridPos: place });
      x += width;
      rowHeight = height;
    }
    y += rowHeight;
  }
  return panels;
}

function describe({ title, unit, queries, isStat }: Panel): object {
  return {
    type: isStat ? 'stat' : 'timeseries',
    title,
    datasource: DATASOURCE,
    fieldConfig: { defaults: { unit, min: 0 }, overrides: [] },
    ...(!isStat && { options: { tooltip: { mode: 'multi', sort: 'desc' } } }),
    targets: queries.map(([expr, legendFormat], i) => ({
      refId: QUERY_NAMES[i],
      datasource: DATASOURCE,
      expr: inNamespace(expr),
      legendFormat,
    })),
  };
}
