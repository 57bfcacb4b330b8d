/** Who may read the OpenAPI document and its pages: everybody, clients with a token, or nobody. */
export const DOCS_ACCESS = ['public', 'token', 'off'] as const;
export type DocsAccess = (typeof DOCS_ACCESS)[number];
