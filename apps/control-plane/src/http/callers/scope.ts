/** What a token may do. Each scope includes the ones before it; only `replace` may call `POST /init/`. */
export const SCOPES = ['read', 'write', 'replace'] as const;
export type Scope = (typeof SCOPES)[number];

export function includesScope(held: Scope, needed: Scope): boolean {
  return SCOPES.indexOf(held) >= SCOPES.indexOf(needed);
}
