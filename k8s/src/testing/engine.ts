import { describe, it } from 'vitest';
import { whyNoEngine } from '../render/render.js';
import { whyNoGoRenderer } from '../render/go-renderer.js';

const noEngine = whyNoEngine();
const noGoRenderer = whyNoGoRenderer();
if (noEngine !== null) {
  process.stderr.write(`SKIPPED: tests that render the chart; no helm on PATH, and ${noEngine}\n`);
} else if (noGoRenderer !== null) {
  process.stderr.write(`SKIPPED: tests of the chart on a cluster with objects; ${noGoRenderer}\n`);
}

/** Tests that render the chart, already while they are collected; not collected where nothing can. */
export function describeChart(title: string, body: () => void): void {
  if (noEngine === null) describe(title, body);
  else describe.skip(title, () => it('needs Helm or Go', () => undefined));
}

/** The same, for tests that need the renderer of our own. */
export function describeRenderer(title: string, body: () => void): void {
  if (noGoRenderer === null) describe(title, body);
  else describe.skip(title, () => it('needs Go', () => undefined));
}
