import { describe, it } from 'vitest';
import { whyNoEngine } from '../render/render.js';
import { whyNoGoRenderer } from '../render/go-renderer.js';

const noEngine = whyNoEngine();
const noGoRenderer = whyNoGoRenderer();
if (noEngine !== null) {
  process.stderr.write(`SKIPPED: tests that render the chart; no helm on PATH, and ${noEngine}\n`);
} else if (noGoRenderer !== null) {
  process.stderr.write(`SKIPPED: tests of the chart with existing objects; ${noGoRenderer}\n`);
}

/** A suite that renders the chart, even during collection. It is skipped when neither Helm nor Go is installed. */
export function describeChart(title: string, body: () => void): void {
  if (noEngine === null) describe(title, body);
  else describe.skip(title, () => it('needs Helm or Go', () => undefined));
}

/** A suite that needs the Go renderer. */
export function describeRenderer(title: string, body: () => void): void {
  if (noGoRenderer === null) describe(title, body);
  else describe.skip(title, () => it('needs Go', () => undefined));
}
