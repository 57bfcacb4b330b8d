/** Range of `rate()`: Grafana fills it in. */
export const RATE = '[$__rate_interval]';
/** Selector for the resolvers that the dashboard's variable `instance` names. */
export const RESOLVERS = '{instance=~"$instance"}';

/** The q-quantile of a histogram, for each value of the label `by`. */
export const quantile = (q: number, metric: string, by: string): string =>
  `histogram_quantile(${q}, sum by (le, ${by}) (rate(${metric}_bucket${RATE})))`;
