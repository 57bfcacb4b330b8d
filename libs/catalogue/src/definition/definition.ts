import type { Purpose } from '@weir/policy';
import type { Source } from '../sources/source.js';

/** A list that a category or an application takes its domains from. */
export interface SourceDefinition extends Source {
  /**
   * Names the source in state, reports, logs and metrics: the path as the definition gives it, or the URL without
   * credentials. The same in every group that names the same source; never shared by two different ones.
   */
  readonly name: string;
  /** How often a URL is requested again; null: whenever the definition is read. */
  readonly refreshMs: number | null;
  /** An SPDX id or a text; null: the definition does not say. */
  readonly licence: string | null;
  /** Whether the list may be used by who earns with it; null: the definition does not say. */
  readonly commercialUse: CommercialUse | null;
  /** How long the list was on a day; null: the definition does not say. */
  readonly size: ListSize | 'unknown' | null;
  /** Where the definition names it first, such as `catalogue.yaml:14: categories[3].sources[0]`. */
  readonly declaredAt: string;
}

/** How many names a list had on a day. */
export interface ListSize {
  readonly names: number;
  /** Such as `2026-02-07`. */
  readonly on: string;
}

export const COMMERCIAL_USES = ['true', 'false', 'unknown'] as const;
export type CommercialUse = (typeof COMMERCIAL_USES)[number];

/** Names that a blocked category sends to another name. */
export interface RewriteDefinition {
  /** In normal form. */
  readonly to: string;
  /** In normal form; the names below them are not rewritten. */
  readonly names: readonly string[];
}

/** A line of a file of the definition, from 1. */
export interface FilePlace {
  /** Relative to the folder. */
  readonly file: string;
  readonly line: number;
}

/** A category or an application of the definition. */
export interface GroupDefinition {
  /** 0 … 2147483647, unique among categories and among applications. */
  readonly id: number;
  readonly name: string;
  /** Under which a category is shown; null: under none, as every application. */
  readonly group: string | null;
  /** `other` for an application. */
  readonly purpose: Purpose;
  /** Whether it is denied to everybody (decisions §14); false for an application. */
  readonly mandatory: boolean;
  /** Whether nobody is told its names, and that it decided. Then it is mandatory. */
  readonly secret: boolean;
  /** Whether its own domains are only examples, and no list has been added to it; false for an application. */
  readonly isSample: boolean;
  /** Whether its lists are taken without the names that would block a domain of `never_block`. */
  readonly isGuarded: boolean;
  /** Inline domains in normal form; each also stands for all names below it. May have duplicates. */
  readonly domains: readonly string[];
  /** For each of `domains` where it stands. */
  readonly domainPlaces: readonly FilePlace[];
  readonly sources: readonly SourceDefinition[];
  /** None for an application. */
  readonly rewrites: readonly RewriteDefinition[];
}

/** The content of `catalogue.yaml` and of the files that it includes. Sources are not read. */
export interface Definition {
  /** Ascending by id. */
  readonly categories: readonly GroupDefinition[];
  /** Ascending by id. */
  readonly applications: readonly GroupDefinition[];
  /** Domains in normal form that no list may bring into a category, unless its purpose is `legal`. */
  readonly neverBlock: readonly string[];
  /** Paths of the files that `catalogue.yaml` includes, and of the sets that are on besides. */
  readonly included: readonly string[];
}

/** Whether a secret category names the source. Then nobody is told what its list has. */
export function isSecretSource({ categories }: Definition, source: SourceDefinition): boolean {
  return categories.some(({ secret, sources }) => secret && sources.includes(source));
}

/** The sources of a definition, each once, in the order of first mention. Groups share the object of a source. */
export function sourcesOf({ categories, applications }: Definition): SourceDefinition[] {
  const all = [...categories, ...applications].flatMap(({ sources }) => sources);
  return [...new Set(all)];
}
