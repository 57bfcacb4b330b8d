/** The chart or its schema refuses the values. The message says why. */
export class ChartError extends Error {
  override readonly name = 'ChartError';
}
