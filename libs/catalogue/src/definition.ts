/** A category or an application with everything that it lists. */
export interface GroupDefinition {
  /** 0 … 2147483647, unique among categories and among applications. */
  readonly id: number;
  readonly name: string;
  /** In normal form; each covers everything below it. May hold duplicates. */
  readonly domains: readonly string[];
}

/** What reading one source gave. */
export interface SourceReport {
  /** Path relative to the folder. */
  readonly file: string;
  readonly domains: number;
  readonly invalidLines: number;
  /** The first ten invalid lines: their numbers, from 1, and what is wrong. */
  readonly examples: readonly { readonly line: number; readonly problem: string }[];
}

/** A catalogue as its folder defines it, sources read. */
export interface Definition {
  /** Ascending by id. */
  readonly categories: readonly GroupDefinition[];
  /** Ascending by id. */
  readonly applications: readonly GroupDefinition[];
  readonly reports: readonly SourceReport[];
}
