/** Processors, as `taskset -c` takes them. */
export interface Cores {
  readonly server: string;
  readonly load: string;
}

/** Half of four or more processors for the server; fewer are shared. */
export function divideCores(count: number): Cores {
  const all = `0-${count - 1}`;
  if (count < 4) return { server: all, load: all };
  const half = Math.floor(count / 2);
  return { server: `0-${half - 1}`, load: `${half}-${count - 1}` };
}
