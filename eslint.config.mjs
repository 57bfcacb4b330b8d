import nx from '@nx/eslint-plugin';
import tseslint from 'typescript-eslint';

const scope = (name, ...mayImport) => ({
  sourceTag: `scope:${name}`,
  onlyDependOnLibsWithTags: [`scope:${name}`, ...mayImport.map((other) => `scope:${other}`)],
});

export default tseslint.config(
  { ignores: ['**/dist/**', '**/generated/**', '**/coverage/**', '.nx/**', '.weir/**'] },
  {
    // Prettier wraps code at 100 columns; comments and strings are wrapped by hand.
    files: ['**/*.{ts,mjs,cjs}'],
    rules: {
      'max-len': [
        'error',
        { code: 120, ignoreUrls: true, ignoreTemplateLiterals: true, ignoreRegExpLiterals: true },
      ],
    },
  },
  {
    files: ['**/*.ts'],
    extends: [tseslint.configs.strictTypeChecked],
    plugins: { '@nx': nx },
    languageOptions: {
      parserOptions: {
        // One program: with one for each project, the types of the libraries would be inferred again in each.
        project: 'tsconfig.check.json',
        tsconfigRootDir: import.meta.dirname,
      },
    },
    rules: {
      eqeqeq: 'error',
      'no-console': 'error',
      'no-empty': ['error', { allowEmptyCatch: false }],
      '@typescript-eslint/consistent-type-imports': ['error', { fixStyle: 'inline-type-imports' }],
      '@typescript-eslint/explicit-module-boundary-types': 'error',
      '@typescript-eslint/no-extraneous-class': ['error', { allowWithDecorator: true }],
      '@typescript-eslint/no-confusing-void-expression': 'off',
      '@typescript-eslint/no-unnecessary-condition': 'off',
      '@typescript-eslint/restrict-template-expressions': [
        'error',
        { allowNumber: true, allowBoolean: true },
      ],
      '@typescript-eslint/switch-exhaustiveness-check': [
        'error',
        { considerDefaultExhaustiveForUnions: true },
      ],
      // Arrows point down: an app never imports an app, the pure core never imports the shell.
      '@nx/enforce-module-boundaries': [
        'error',
        {
          enforceBuildableLibDependency: false,
          depConstraints: [
            { sourceTag: 'layer:core', onlyDependOnLibsWithTags: ['layer:core'] },
            { sourceTag: 'layer:shell', onlyDependOnLibsWithTags: ['layer:core', 'layer:shell'] },
            { sourceTag: 'layer:app', onlyDependOnLibsWithTags: ['layer:core', 'layer:shell'] },
            { sourceTag: 'layer:tool', onlyDependOnLibsWithTags: ['layer:core', 'layer:shell'] },
            { sourceTag: 'layer:e2e', onlyDependOnLibsWithTags: ['layer:core', 'layer:shell'] },
            // The chart and the compose file stand above all: they read what processes can be configured with.
            {
              sourceTag: 'layer:deployment',
              onlyDependOnLibsWithTags: ['layer:core', 'layer:shell', 'layer:app', 'layer:tool'],
            },
            scope('config-model'),
            scope('dns-name'),
            scope('dns-wire'),
            scope('policy', 'config-model', 'dns-name'),
            scope('clients', 'dns-wire', 'policy'),
            scope('ops'),
            scope('telemetry', 'ops'),
            scope('udp-batch'),
            scope('change-feed', 'config-model'),
            scope('catalogue', 'config-model', 'dns-name', 'policy'),
            scope(
              'policy-feed',
              'ops',
              'change-feed',
              'catalogue',
              'policy',
              'config-model',
              'dns-name',
            ),
          ],
        },
      ],
    },
  },
  {
    // Only an entry point knows that there is an environment.
    files: ['apps/*/src/**/*.ts', 'libs/*/src/**/*.ts'],
    ignores: ['apps/weir-e2e/**', '**/main.ts', '**/*.spec.ts', '**/*.bench.ts', '**/testing/**'],
    rules: { 'no-restricted-properties': ['error', { object: 'process', property: 'env' }] },
  },
  {
    // The pure core does no I/O: clocks and randomness come in as parameters.
    files: ['libs/{config-model,dns-name,dns-wire,policy}/src/**/*.ts'],
    ignores: ['**/*.spec.ts', '**/*.bench.ts', '**/testing/**'],
    rules: {
      'no-restricted-globals': [
        'error',
        'process',
        'fetch',
        'setTimeout',
        'setInterval',
        'performance',
      ],
      'no-restricted-properties': [
        'error',
        { object: 'process', property: 'env' },
        { object: 'Date', property: 'now' },
        { object: 'Math', property: 'random' },
      ],
      '@typescript-eslint/no-restricted-imports': [
        'error',
        { patterns: [{ group: ['node:*', '!node:url'], message: 'The pure core does no I/O.' }] },
      ],
    },
  },
  {
    files: ['**/*.spec.ts', '**/testing/**/*.ts', 'apps/weir-e2e/**/*.ts'],
    rules: {
      '@typescript-eslint/no-non-null-assertion': 'off',
      '@typescript-eslint/no-unsafe-assignment': 'off',
      '@typescript-eslint/no-unsafe-member-access': 'off',
      '@typescript-eslint/explicit-module-boundary-types': 'off',
    },
  },
);
