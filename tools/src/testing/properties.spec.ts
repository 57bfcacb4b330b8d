import { describe, expect, it } from 'vitest';
import { runExample } from './examples/run-example.js';

const AGAIN =
  /FAST_CHECK_SEED=(-?\d+) FAST_CHECK_PATH=(\S+) npm test -- (\S+)\/(property\.example)\.ts -t '(.*)'/;

describe('a property that fails', () => {
  it.each([
    ["isn't large", '.every. number > isn.t large'],
    ['is not large later', '.every. number > is not large later'],
  ])('names the command that tries its counterexample again: %s', (title, pattern) => {
    const { status, output } = runExample('property', {}, '-t', title.replace("'", '.'));
    expect(status).toBe(1);
    const [, seed, path, folder, file, name] = AGAIN.exec(output)!;
    expect([folder, name]).toEqual(['tools/src/testing/examples', pattern]);

    const variables = { FAST_CHECK_SEED: seed, FAST_CHECK_PATH: path };
    const again = runExample(file, variables, '-t', name);
    expect(again.status).toBe(1);
    // Without the path it would begin with other values.
    expect(/^tried (\d+)$/m.exec(again.output)?.[1]).toBe('1000');
    expect(again.output).toContain('Property failed after 1 tests');
    expect(again.output).toContain('Caused by: AssertionError: expected 1000 to be less than 1000');
    expect(again.output).toMatch(/Tests {2}1 failed \| 2 skipped/);
  });
});

it('a property has the same values in each second run, and others in between', () => {
  const [first, second] = [valuesOf(), valuesOf()];
  expect(new Set(first).size).toBeGreaterThan(90);
  const isSame = first.map((value, run) => value === second[run]);
  expect(isSame.filter((_, run) => run % 2 === 0)).not.toContain(false);
  expect(isSame.filter((same, run) => same && run % 2 === 1).length).toBeLessThan(10);
});

/** What a run of the property tries. */
function valuesOf(): string[] {
  const { output } = runExample('property', {}, '-t', 'is a number');
  return /^tried (.*)$/m.exec(output)![1].split(',');
}
