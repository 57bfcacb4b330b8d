/** A line of a list, from 1, and what is wrong with it. */
export interface ListExample {
  readonly line: number;
  readonly problem: string;
}

/** The result of reading a list. */
export interface ListReport {
  readonly lines: number;
  /** Names listed, duplicates included. */
  readonly domains: number;
  /** Valid entries that list no name: other rules, other policies, addresses of real hosts. */
  readonly skipped: number;
  readonly invalidLines: number;
  /** The first ten invalid lines. */
  readonly examples: readonly ListExample[];
}

export const MAX_EXAMPLES = 10;

/** Builds the report while a list is read. */
export class ListReportBuilder implements ListReport {
  lines = 0;
  domains = 0;
  skipped = 0;
  invalidLines = 0;
  readonly examples: ListExample[] = [];
  private lastInvalid = 0;

  /** A line counts once, whatever number of faults it has. */
  invalid(problem: string): void {
    if (this.lastInvalid === this.lines) return;
    this.lastInvalid = this.lines;
    this.invalidLines++;
    if (this.examples.length < MAX_EXAMPLES) this.examples.push({ line: this.lines, problem });
  }
}
