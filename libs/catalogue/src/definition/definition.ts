import type { Source } from '../sources/source.js';

/** A list that a category or an application takes its domains from. */
export interface SourceDefinition extends Source {
  /**
   * Names the source in state, reports, logs and metrics: the path as the definition gives it, or the URL without credentials. The same in
   * every group that names the same source; never shared by two different ones.
   */
  readonly name: string;
  /** How often a URL is asked again; null: whenever the definition is read. */
  readonly refreshMs: number | null;
  /** Where the definition names it first, as `catalogue.yaml:14: categories[3].sources[0]`. */
  readonly declaredAt: string;
}

/** A category or an application as the definition has it. */
export interface GroupDefinition {
  /** 0 … 2147483647, unique among categories and among applications. */
  readonly id: number;
  readonly name: string;
  /** Inline, in normal form; each covers everything below it. May hold duplicates. */
  readonly domains: readonly string[];
  /** The line of `catalogue.yaml` that each of `domains` stands in. */
  readonly domainLines: readonly number[];
  readonly sources: readonly SourceDefinition[];
}

/** A catalogue as its definition says, sources not read. */
export interface Definition {
  /** Ascending by id. */
  readonly categories: readonly GroupDefinition[];
  /** Ascending by id. */
  readonly applications: readonly GroupDefinition[];
}

/** The sources of a definition, each once, in the order in which groups name them: several groups share one object. */
export function sourcesOf({ categories, applications }: Definition): SourceDefinition[] {
  const all = [...categories, ...applications].flatMap(({ sources }) => sources);
  return [...new Set(all)];
}
