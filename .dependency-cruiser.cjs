/**
 * Circles of files and of folders, and packages that are missing. ESLint's module-boundary rules hold the layers.
 * A test may import from any folder, so tests and benchmarks are not part of the graph.
 */

module.exports = {
  forbidden: [
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
      // An image has what `npm ci --omit=dev` installs.
      name: 'not-there-at-run-time',
      severity: 'error',
      from: {
        path: '^((apps|libs)/[^/]+|tools)/src',
        pathNot: '/testing/|^tools/src/migration-check/|^apps/weir-e2e/',
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
      extensions: ['.ts', '.js', '.mjs', '.json'],
    },
  },
};
