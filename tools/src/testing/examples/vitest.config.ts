import { defineConfig } from 'vitest/config';
import { SkippedTests } from '../skipped-tests.js';

/** Runs the examples here, which are no tests: they show what a run of vitest prints. */
export default defineConfig({
  ssr: { resolve: { conditions: ['@weir/source'] } },
  test: {
    include: ['*.example.ts'],
    setupFiles: ['../properties.ts'],
    reporters: ['default', new SkippedTests()],
  },
});
