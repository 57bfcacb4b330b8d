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
