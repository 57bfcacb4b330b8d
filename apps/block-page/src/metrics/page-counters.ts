import type { PageSubject } from '../page/subject.js';

/** Why a request got no page. */
export const Refusal = {
  /** An image, a script, data, or a method that asks for no page. */
  noPage: 'no_page',
  rate: 'rate',
  /** A trusted proxy names a visitor that is no address. */
  unknownVisitor: 'unknown_visitor',
  /** No HTTP, or more of it than is taken. */
  malformed: 'malformed',
  /** The connection was one too many. */
  crowded: 'crowded',
  /** A PROXY protocol header that is not sound. */
  unproxied: 'unproxied',
  /** Handling it failed: a defect. */
  defect: 'defect',
} as const;
export type Refusal = (typeof Refusal)[keyof typeof Refusal];

interface PageCount {
  readonly page: 'built_in' | 'custom';
  readonly subject: PageSubject['kind'];
  /** Empty unless the subject is a blocked name. */
  readonly reason: string;
  count: number;
}

/** What was answered. */
export class PageCounters {
  assets = 0;
  readonly refusals = new Map<Refusal, number>(
    Object.values(Refusal).map((refusal) => [refusal, 0]),
  );
  private readonly pages = new Map<string, PageCount>();

  get pageCounts(): Iterable<PageCount> {
    return this.pages.values();
  }

  countPage(page: PageCount['page'], subject: PageSubject): void {
    const reason = subject.kind === 'blocked' ? subject.reason.code : '';
    const key = `${page} ${subject.kind} ${reason}`;
    const counted = this.pages.get(key);
    if (counted === undefined)
      this.pages.set(key, { page, subject: subject.kind, reason, count: 1 });
    else counted.count++;
  }

  refuse(refusal: Refusal): void {
    this.refusals.set(refusal, (this.refusals.get(refusal) ?? 0) + 1);
  }
}
