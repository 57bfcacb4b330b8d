/** Prints a line of the result. */
export function print(text: string): void {
  process.stdout.write(`${text}\n`);
}

/** A line on how far the run is, for whoever waits. */
export function progress(text: string): void {
  process.stderr.write(`${text}\n`);
}

/** The command ends with an error. */
export function fail(reason: string): void {
  process.stderr.write(`${reason}\n`);
  process.exitCode = 1;
}
