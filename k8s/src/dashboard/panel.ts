/** Grafana's names of units. */
export type Unit = 'short' | 'percentunit' | 's' | 'bytes' | 'ops' | 'reqps';

export interface Panel {
  readonly title: string;
  readonly unit: Unit;
  /** PromQL and how its series are called. */
  readonly queries: readonly (readonly [expr: string, legend: string])[];
  /** One number instead of a graph. */
  readonly isStat?: true;
}

export interface Row {
  readonly title: string;
  readonly panels: readonly Panel[];
}
