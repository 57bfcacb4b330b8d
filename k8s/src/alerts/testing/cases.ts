import { readFileSync } from 'node:fs';
import { parse } from 'yaml';

type Labels = Readonly<Record<string, string>>;

/** Metrics as Prometheus sees them, and the alert that they raise. */
export interface AlertCase {
  readonly alert: string;
  /** Series with labels → one value per minute, in the notation of promtool. */
  readonly series: Labels;
  /** Minutes from the beginning of the series. */
  readonly at: number;
  /** Labels of the alert besides those of its rule; null: the alert does not fire. */
  readonly raised: Labels | null;
  /** Text of the value in the description. */
  readonly value?: string;
}

const FILE = new URL('./cases.yaml', import.meta.url);
const PROCESSES: Readonly<Record<string, Labels>> = {
  resolver: { job: 'weir-resolver', instance: '192.0.2.1:9090' },
  'control-plane': { job: 'weir-control-plane', instance: '192.0.2.2:9090' },
  'block-page': { job: 'weir-block-page', instance: '192.0.2.3:9090' },
};

/** The cases of cases.yaml. Placeholders such as @resolver are replaced with labels. */
export function readCases(): readonly AlertCase[] {
  const cases = parse(readFileSync(FILE, 'utf8')) as readonly AlertCase[];
  return cases.map((one) => ({
    ...one,
    series: expandSeries(one.series),
    raised: expandLabels(one.raised),
  }));
}

function expandSeries(series: Labels): Labels {
  const labelsOf = (_: string, name: string): string =>
    Object.entries(PROCESSES[name])
      .map(([label, value]) => `${label}="${value}"`)
      .join();
  return Object.fromEntries(
    Object.entries(series).map(([name, values]) => [name.replace(/@([\w-]+)/, labelsOf), values]),
  );
}

function expandLabels(raised: Labels | null): Labels | null {
  if (raised === null) return null;
  const { of: name, ...labels } = raised;
  return name === undefined ? labels : { ...PROCESSES[name], ...labels };
}
