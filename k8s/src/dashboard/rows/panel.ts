/** Range of `rate()`: Grafana fills it in. */
export const RATE = '[$__rate_interval]';
/** Selector for the resolvers that the dashboard's variable `instance` names. */
export const RESOLVERS = '{instance=~"$instance"}';

/** The q-quantile of a histogram, for each value of the label `by`. */
export const quantile = (q: number, metric: string, by: string): string =>
  `histogram_quantile(${q}, sum by (le, ${by}) (rate(${metric}_bucket${RATE})))`;

/** Units by Grafana's names. */
export type Unit = 'short' | 'percentunit' | 's' | 'bytes' | 'ops' | 'reqps';

export interface Panel {
  readonly title: string;
  readonly unit: Unit;
  /** PromQL expression and legend of its series. */
  readonly queries: readonly (readonly [expr: string, legend: string])[];
  /** Whether it shows one number instead of a graph. */
  readonly isStat?: true;
}

export interface Row {
  readonly title: string;
  readonly panels: readonly Panel[];
}
