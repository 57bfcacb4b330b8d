/** Circular imports, and files that nothing reaches. Layers are held by the module-boundary rules of ESLint. */
module.exports = {
  forbidden: [
    {
      name: 'no-circular',
      severity: 'error',
      from: {},
      to: { circular: true, viaOnly: { dependencyTypesNot: ['type-only'] } },
    },
    {
      name: 'not-in-package-json',
      severity: 'error',
      from: { path: '^((apps|libs)/[^/]+|tools)/src', pathNot: '\\.(spec|bench)\\.ts$|/testing/' },
      to: { dependencyTypes: ['npm-no-pkg', 'unknown'] },
    },
    {
      // An image has what `npm ci --omit=dev` installs.
      name: 'not-there-at-run-time',
      severity: 'error',
      from: {
        path: '^((apps|libs)/[^/]+|tools)/src',
        pathNot: '\\.(spec|bench)\\.ts$|/testing/|^tools/src/migration-check/|^apps/weir-e2e/',
      },
      to: { dependencyTypes: ['npm-dev'], dependencyTypesNot: ['npm', 'type-only'] },
    },
  ],
  options: {
    doNotFollow: { path: ['node_modules'] },
    exclude: { path: ['^(apps|libs)/[^/]+/dist/', '^tools/dist/', '^apps/[^/]+/src/generated/'] },
    tsConfig: { fileName: 'tsconfig.base.json' },
    tsPreCompilationDeps: true,
    enhancedResolveOptions: {
      exportsFields: ['exports'],
      conditionNames: ['@weir/source', 'import', 'require', 'node', 'default'],
      extensions: ['.ts', '.js', '.mjs', '.json'],
    },
  },
};
