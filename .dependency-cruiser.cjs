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
      from: { path: '^(apps|libs)/[^/]+/src', pathNot: '\\.(spec|bench)\\.ts$|/testing/' },
      to: { dependencyTypes: ['npm-no-pkg', 'unknown'] },
    },
  ],
  options: {
    doNotFollow: { path: ['node_modules'] },
    exclude: { path: ['/dist/', '/generated/'] },
    tsConfig: { fileName: 'tsconfig.base.json' },
    tsPreCompilationDeps: true,
    enhancedResolveOptions: {
      exportsFields: ['exports'],
      conditionNames: ['@weir/source', 'import', 'require', 'node', 'default'],
      extensions: ['.ts', '.js', '.mjs', '.json'],
    },
  },
};
