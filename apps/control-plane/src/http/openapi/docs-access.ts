/** Who may read the document and its pages: anybody, those with a token, or nobody. */
export const DOCS_ACCESS = ['public', 'token', 'off'] as const;
export type DocsAccess = (typeof DOCS_ACCESS)[number];
