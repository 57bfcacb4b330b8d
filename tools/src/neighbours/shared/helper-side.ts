/** In a helper process: the argument from the main process, which this process must not outlive. */
export function helperArgument(): unknown {
  process.once('disconnect', () => process.exit());
  return JSON.parse(process.argv[2] ?? 'null');
}

export function tellMain(message: unknown): void {
  process.send?.(message);
}
