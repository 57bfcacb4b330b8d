// What bench:scale takes from configuration.mjs.
import type { CompiledCatalogue } from '@weir/catalogue';
import type { EntityKind, Row } from '@weir/config-model';
import type { HashKey } from '@weir/dns-name';

/** How many entries of each kind. `networks` are of IPv4, `domains` are listed in categories. */
export interface Size {
  readonly networks: number;
  readonly networks6: number;
  readonly napt: number;
  readonly profiles: number;
  readonly rules: number;
  readonly domains: number;
}

export function sizeOf(nameOrShare: string): Size;
export function networkRow(i: number, profileId: number): readonly [number, number, number];
export function network6Row(i: number, profileId: number): readonly number[];
export function naptRow(i: number, profileId: number): readonly [number, number, number, number];
export function ownerOf(i: number, profiles: number): number;
export function ruleOwner(n: number, size: Size): number;
export function makeRows(
  size: Size,
  key: HashKey,
): Readonly<Partial<Record<EntityKind, () => Iterable<Row>>>>;
export function makeDefinition(domains: number): { readonly categoryDomains: number };
export function compileDomains(domains: number, key: HashKey): CompiledCatalogue;
