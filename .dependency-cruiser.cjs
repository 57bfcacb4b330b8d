/**
 * Circles of files and of folders, which project may import which, and packages that are missing. A test may import
 * from any folder, so tests and benchmarks are not part of the graph.
 */

/**
 * Arrows point down: the libraries that each library may import. Apps and tools may import all, and never an app. Only
 * the command line may: its commands are those of the control plane and of the tools.
 */
const LIBRARIES = {
  'config-model': [],
  'dns-name': [],
  'dns-wire': [],
  ops: [],
  'udp-batch': [],
  telemetry: ['ops'],
  policy: ['config-model', 'dns-name', 'dns-wire'],
  clients: ['dns-wire', 'policy'],
  'change-feed': ['config-model'],
  catalogue: ['config-model', 'dns-name', 'dns-wire', 'policy'],
  'policy-feed': [
    'ops',
    'change-feed',
    'catalogue',
    'policy',
    'config-model',
    'dns-name',
    'dns-wire',
  ],
};

const boundaries = Object.entries(LIBRARIES).map(([name, others]) => ({
  name: `boundary-of-${name}`,
  severity: 'error',
  from: { path: `^libs/${name}/`, pathNot: '/testing/' },
  to: {
    path: '^(apps|libs|tools|k8s|compose)/',
    pathNot: [name, ...others].map((library) => `^libs/${library}/`),
  },
}));

module.exports = {
  forbidden: [
    ...boundaries,
    {
      name: 'boundary-of-unknown-libraries',
      severity: 'error',
      from: { path: '^libs/', pathNot: Object.keys(LIBRARIES).map((name) => `^libs/${name}/`) },
      to: {},
    },
    {
      name: 'app-imports-app',
      severity: 'error',
      from: { path: '^apps/([^/]+)/', pathNot: '^apps/(cli|weir-e2e)/' },
      to: { path: '^(apps|tools|k8s|compose)/', pathNot: '^apps/$1/' },
    },
    {
      name: 'boundary-of-the-command-line',
      severity: 'error',
      from: { path: '^apps/cli/' },
      to: { path: '^(apps|tools|k8s|compose)/', pathNot: '^(apps/cli|apps/control-plane|tools)/' },
    },
    {
      // The chart and the compose file stand above all: they read what processes can be configured with.
      name: 'tools-import-apps',
      severity: 'error',
      from: { path: '^tools/' },
      to: { path: '^(apps|k8s|compose)/' },
    },
    {
      // Type-only imports count: two files that need each other's types cannot be understood one by one.
      name: 'no-circular-files',
      severity: 'error',
      from: {},
      to: { circular: true },
    },
    {
      name: 'no-circular-folders',
      severity: 'error',
      scope: 'folder',
      from: {},
      to: { circular: true },
    },
    {
      name: 'not-in-package-json',
      severity: 'error',
      from: { path: '^((apps|libs)/[^/]+|tools)/src', pathNot: '/testing/' },
      to: { dependencyTypes: ['npm-no-pkg', 'unknown'] },
    },
    {
      // An image has what `npm ci --omit=dev` installs. Suites and benchmarks are in none.
      name: 'not-there-at-run-time',
      severity: 'error',
      from: {
        path: '^((apps|libs)/[^/]+|tools)/src',
        pathNot:
          '/testing/|^apps/weir-e2e/|^tools/src/(bench|deployment|faults|neighbours|rolling)/',
      },
      to: { dependencyTypes: ['npm-dev'], dependencyTypesNot: ['npm', 'type-only'] },
    },
  ],
  options: {
    doNotFollow: { path: ['node_modules'] },
    exclude: {
      path: [
        '^(apps|libs)/[^/]+/dist/',
        '^tools/dist/',
        '^apps/[^/]+/src/generated/',
        '\\.(spec|bench)\\.ts$',
      ],
    },
    tsConfig: { fileName: 'tsconfig.base.json' },
    tsPreCompilationDeps: true,
    enhancedResolveOptions: {
      exportsFields: ['exports'],
      conditionNames: ['@weir/source', 'import', 'require', 'node', 'default'],
      extensions: ['.ts', '.tsx', '.js', '.mjs', '.json'],
    },
  },
};
