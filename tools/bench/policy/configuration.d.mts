// Types of configuration.mjs, for bench:scale and for `npm run lint`.
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

export const SIZES: Readonly<Record<string, Size>>;
export function sizeOf(nameOrShare: string): Size;
export function effortOf(nameOrShare: string, full: number, least: number): number;
export function profileRow(id: number): readonly (number | null)[];
export function networkRow(i: number, profileId: number): readonly [number, number, number];
export function network6Row(i: number, profileId: number): readonly number[];
export function naptRow(i: number, profileId: number): readonly [number, number, number, number];
export function ownerOf(i: number, profiles: number): number;
export function ruleOwner(n: number, size: Size): number;
export type Rows = Readonly<Partial<Record<EntityKind, () => Iterable<Row>>>>;
export function makeRows(size: Size, key: HashKey): Rows;
export function entriesOf(rows: Rows): readonly (readonly [EntityKind, () => Iterable<Row>])[];
export function partsOf(rows: Iterable<Row>): Iterable<readonly Row[]>;
export function makeDefinition(domains: number): {
  readonly categoryDomains: number;
  readonly applicationDomains: number;
};
export function compileDomains(domains: number, key: HashKey): CompiledCatalogue;
