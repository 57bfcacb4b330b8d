/** Milliseconds of a clock that all processes of this machine share. */
export const nowMs = (): number => Number(process.hrtime.bigint()) / 1e6;

/** In a helper process: the argument from the main process, which this process must not outlive. */
export function helperArgument(): unknown {
  process.once('disconnect', () => process.exit());
  return JSON.parse(process.argv[2] ?? 'null');
}

export function tellMain(message: unknown): void {
  process.send?.(message);
}
