import { expect, it } from 'vitest';
import { runExample } from './examples/run-example.js';

const SKIPPED = `
  skipped.example.ts > with a program that nobody has > is skipped: needs no-such-program
  skipped.example.ts > is skipped by its context: needs another machine
  skipped.example.ts > has no reason: needs (no reason is given)
`;

it('names skipped tests at the end of a run, and what they need', () => {
  const { status, output } = runExample('skipped', {});
  expect(output).toContain(`Not tested on this machine:${SKIPPED}`);
  expect(status).toBe(0);
});

it('fails a run in CI in which a test is skipped', () => {
  const { status, output } = runExample('skipped', { CI: 'true' });
  expect(output).toContain(`FAILED: in CI no test may be skipped:${SKIPPED}`);
  expect(status).toBe(1);
});

it('says nothing about tests that the command line leaves out', () => {
  const { status, output } = runExample('skipped', { CI: 'true' }, '-t', 'passes');
  expect(output).not.toContain('has no reason');
  expect(output).toContain('is skipped: needs no-such-program');
  expect(status).toBe(1);
});
