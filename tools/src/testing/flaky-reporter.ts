import { stderr } from 'node:process';
import type { Reporter } from 'vitest/node';

/** Names each test that passed at its second try only. */
export const flakyReporter: Reporter = {
  onTestRunEnd(modules) {
    for (const module of modules) {
      for (const test of module.children.allTests('passed')) {
        const name = `${module.relativeModuleId} > ${test.fullName}`;
        if (test.diagnostic()?.flaky === true) stderr.write(`Second try: ${name}\n`);
      }
    }
  },
};
