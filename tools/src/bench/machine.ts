import { cpus, loadavg, totalmem } from 'node:os';

/** The machine, the time and what else the machine does: figures mean nothing without them. */
export function describeMachine(): string {
  const [cpu] = cpus();
  const gib = Math.round(totalmem() / 2 ** 30);
  return [
    `${cpu?.model ?? 'unknown'}, ${cpus().length} cores, ${gib} GiB`,
    `Node ${process.version}, ${new Date().toISOString()}, ${describeLoad()}`,
  ].join('\n');
}

/** `load 0.5`. */
export function describeLoad(): string {
  return `load ${loadavg()[0]?.toFixed(1)}`;
}
