import { availableParallelism } from 'node:os';
import { fileURLToPath } from 'node:url';
import { defineConfig, mergeConfig, type ViteUserConfig } from 'vitest/config';
import { LongestFirst } from './tools/src/testing/longest-first.js';
import { SkippedTests } from './tools/src/testing/skipped-tests.js';

const conditions = ['@weir/source'];

// Test files and the processes that they start find the compiled code of those before them.
process.env['NODE_COMPILE_CACHE'] ??= fileURLToPath(
  new URL('node_modules/.cache/node', import.meta.url),
);

const UNIT_TESTS = [
  '{apps,libs}/*/{src,test}/**/*.spec.ts',
  '{tools,k8s,compose}/{src,test}/**/*.spec.ts',
];
const INTEGRATION_TESTS = [
  '{apps,libs}/*/{src,test}/**/*.int.spec.ts',
  '{tools,k8s,compose}/{src,test}/**/*.int.spec.ts',
];
const NO_TESTS = ['**/dist/**', '**/node_modules/**'];
const NO_UNIT_TESTS = ['**/*.{int,images,nightly}.spec.ts', ...NO_TESTS];
/** Unit tests that measure, limit or change their own process. Each has one; the others share a few. */
const OF_A_PROCESS = [
  '**/*.allocation.spec.ts',
  'apps/control-plane/src/http/pipeline/body-memory.spec.ts',
  'apps/control-plane/src/revisions/write-queue.spec.ts',
  'apps/resolver/src/listeners/https/http1-connection.spec.ts',
  'apps/resolver/src/testing/soak/memory.spec.ts',
  'apps/resolver/src/upstream/open-files.spec.ts',
  'libs/catalogue/src/lists/read-names.spec.ts',
  'libs/change-feed/src/disk/configuration-store.spec.ts',
  'libs/ops/src/runtime-metrics.spec.ts',
  'libs/policy/src/memory/heap-weight.spec.ts',
  'libs/policy/src/replaced-policy.spec.ts',
  'libs/udp-batch/src/memory.spec.ts',
];

const SETUP_FILES = ['tools/src/testing/properties.ts'];

const unit: NonNullable<ViteUserConfig['test']> = {
  setupFiles: SETUP_FILES,
  maxWorkers: availableParallelism(),
  // No test is about its own time: these bounds only end what hangs, on a machine that does much else besides.
  testTimeout: 900_000,
  hookTimeout: 900_000,
  expect: { poll: { timeout: 60_000 } },
};

const integration: NonNullable<ViteUserConfig['test']> = {
  setupFiles: SETUP_FILES,
  globalSetup: ['tools/src/testing/compile.ts', 'tools/src/testing/services.ts'],
  // Most of the tests with real servers wait more than they work: a third of a core is enough for one of them.
  maxWorkers: 3 * availableParallelism(),
  sequence: { groupOrder: 1 },
  testTimeout: 600_000,
  hookTimeout: 600_000,
  expect: { poll: { timeout: 60_000 } },
};

const shared: ViteUserConfig = defineConfig({
  resolve: { conditions },
  ssr: { resolve: { conditions } },
  // Nest reads parameter types from the metadata that the compiler leaves.
  oxc: { decorator: { legacy: true, emitDecoratorMetadata: true } },
});

const project = (name: string, test: NonNullable<ViteUserConfig['test']>): ViteUserConfig =>
  mergeConfig(shared, defineConfig({ test: { name, ...test } }));

export default defineConfig({
  test: {
    reporters: ['default', new SkippedTests()],
    sequence: { sequencer: LongestFirst },
    projects: [
      project('unit', {
        ...unit,
        include: UNIT_TESTS,
        exclude: [...NO_UNIT_TESTS, ...OF_A_PROCESS],
        // The modules of a worker are loaded once. A third of the processor time went into loading them again.
        isolate: false,
      }),
      project('unit-process', { ...unit, include: OF_A_PROCESS, exclude: NO_UNIT_TESTS }),
      project('integration', {
        ...integration,
        include: INTEGRATION_TESTS,
        exclude: NO_TESTS,
        // The modules of a worker are loaded once, not once a file.
        isolate: false,
      }),
      // Not among what `npm test` runs: npm run test:nightly.
      project('nightly', {
        include: [
          '{apps/*,tools,compose}/src/**/*.nightly.spec.ts',
          'libs/policy/src/policy.property.spec.ts',
        ],
        // A million questions.
        env: { POLICY_RUNS: '600' },
        ...integration,
        maxWorkers: availableParallelism(),
      }),
      // Not among what `npm test` runs: npm run test:images.
      project('images', {
        include: ['compose/src/**/*.images.spec.ts'],
        globalSetup: ['compose/src/images/testing/setup.ts'],
        testTimeout: 900_000,
        hookTimeout: 900_000,
        expect: { poll: { timeout: 60_000, interval: 250 } },
        fileParallelism: false,
        sequence: { groupOrder: 2 },
      }),
    ],
  },
});
