/** What the chart says of values that it cannot be rendered with. */
export class ChartError extends Error {
  override readonly name = 'ChartError';
}
