/** Range of `rate()`: Grafana fills it in. */
export const RATE = '[$__rate_interval]';

/** Units by Grafana's names. */
type Unit = 'short' | 'percentunit' | 's' | 'bytes' | 'ops' | 'reqps';

/** PromQL expression and legend of its series. */
export type Query = readonly [expr: string, legend: string];

export interface Panel {
  readonly title: string;
  readonly unit: Unit;
  readonly queries: readonly Query[];
  /** Whether it shows one number instead of a graph. */
  readonly isStat: boolean;
}

export interface Row {
  readonly title: string;
  readonly panels: readonly Panel[];
}

export function graph(title: string, unit: Unit, queries: readonly Query[]): Panel {
  return { title, unit, queries, isStat: false };
}

/** One number. */
export function stat(title: string, unit: Unit, expr: string): Panel {
  return { title, unit, queries: [[expr, '']], isStat: true };
}

/** A metric of the resolvers that the dashboard's variable `instance` names. */
export const ofResolvers = (name: string): string => `weir_resolver_${name}{instance=~"$instance"}`;

const legendOf = (by: string): string => by.replaceAll(/\w+/g, '{{$&}}').replaceAll(',', '');

/** How fast a counter grows, summed by labels. @param what is behind the labels in the legend */
export function rates(counter: string, by: string, what = ''): Query {
  return [`sum by (${by}) (rate(${counter}${RATE}))`, legendOf(by) + what];
}

/** A metric, put together by a label. @param what is behind the label in the legend */
export function together(how: 'sum' | 'max', metric: string, by: string, what = ''): Query {
  return [`${how} by (${by}) (${metric})`, legendOf(by) + what];
}

/** The q-quantile of a histogram, for each value of the labels `by`. */
export function quantile(q: number, histogram: string, by: string, legend = legendOf(by)): Query {
  return [
    `histogram_quantile(${q}, sum by (le, ${by}) (rate(${histogram}_bucket${RATE})))`,
    legend,
  ];
}
