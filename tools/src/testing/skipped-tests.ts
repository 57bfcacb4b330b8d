import type { Reporter, TestCase, TestModule, Vitest } from 'vitest/node';

/** Names at the end of a run what was skipped, and why. In CI, where nothing is missing, the run then fails. */
export class SkippedTests implements Reporter {
  private vitest!: Vitest;

  onInit(vitest: Vitest): void {
    this.vitest = vitest;
  }

  onTestRunEnd(modules: readonly TestModule[]): void {
    const lines = modules.flatMap((module) =>
      [...module.children.allTests('skipped')].filter((test) => this.isMissing(test)).map(lineOf),
    );
    if (lines.length === 0) return;
    const isCi = process.env.CI !== undefined;
    const verdict = isCi ? 'FAILED: in CI no test may be skipped' : 'Not tested on this machine';
    process.stderr.write(`\n${verdict}:\n${lines.join('\n')}\n`);
    if (isCi) process.exitCode = 1;
  }

  /** Not the tests that the command line left out. */
  private isMissing(test: TestCase): boolean {
    return reasonOf(test) !== undefined || this.vitest.config.testNamePattern === undefined;
  }
}

function lineOf(test: TestCase): string {
  const name = `${test.module.relativeModuleId} > ${test.fullName}`;
  return `  ${name}: needs ${reasonOf(test) ?? '(no reason is given)'}`;
}

/** The note of `skip(condition, note)`, or `meta.needs` of the test or its suite. */
function reasonOf(test: TestCase): string | undefined {
  const result = test.result();
  return (result.state === 'skipped' ? result.note : undefined) ?? test.meta().needs;
}
