import { normaliseDomain } from '@weir/dns-name';
import { stringify } from 'yaml';
import { type DlcLists, PATTERNS, resolveDlc } from '../../lists/formats/dlc.js';
import { isPublicSuffix } from '../../lists/never-block.js';

/** `catalogue/upstream/groups.yaml`. */
export interface Groups {
  readonly categories: readonly CategoryPlan[];
  readonly not_third_party: { readonly lists: readonly string[] };
  readonly applications: readonly ApplicationPlan[];
}

interface CategoryPlan {
  readonly id: number;
  /** Its file is `lists/<file>.txt`. */
  readonly file: string;
  readonly lists: readonly string[];
  /** Lists whose names `lists` do not bring into it. Its applications may. */
  readonly without?: readonly string[];
  readonly third_party?: string;
  /** Names that neither lists nor applications bring into it; those below them stay. */
  readonly except?: readonly string[];
}

interface ApplicationPlan {
  readonly id: number;
  readonly name: string;
  readonly categories?: readonly number[];
  readonly lists?: readonly string[];
  readonly domains?: readonly string[];
  readonly except?: readonly string[];
}

export interface Upstream {
  readonly groups: Groups;
  /** Of domain-list-community. */
  readonly lists: DlcLists;
  /** Domains of third-party-web by category. */
  readonly thirdParty: Readonly<Record<string, readonly string[]>>;
}

interface Application extends ApplicationPlan {
  readonly names: readonly string[];
}

/** What is made of them, by path in the folder of the catalogue. */
export function buildCatalogue(upstream: Upstream): ReadonlyMap<string, string> {
  const { groups } = upstream;
  const applications = groups.applications.map((plan): Application => ({
    ...plan,
    names: covering([...(plan.domains ?? []), ...namesOf(upstream, plan.lists ?? [])], plan.except),
  }));
  const others = groups.not_third_party.lists.map((list) => `${list}@-ads`);
  const kept = applications.flatMap(({ names }) => names).concat(namesOf(upstream, others));
  const [same, above] = [new Set(kept), new Set(kept.flatMap(parentsOf))];
  const isFree = (name: string): boolean =>
    !above.has(name) && ![name, ...parentsOf(name)].some((one) => same.has(one));
  const files = groups.categories.map(
    ({ id, file, lists, without = [], third_party, except = [] }): [string, string] => {
      const ofApplications = applications.filter(({ categories }) => categories?.includes(id));
      const advertisers = third_party === undefined ? [] : upstream.thirdParty[third_party];
      const left = new Set(namesOf(upstream, without));
      const names = [
        ...namesOf(upstream, lists).filter((name) => !left.has(name)),
        ...ofApplications.flatMap((application) => application.names),
        ...advertisers.filter(isFree),
      ];
      return [`lists/${file}.txt`, listFile(covering(names, except))];
    },
  );
  return new Map([...files, ['applications.yaml', applicationsFile(applications)]]);
}

function namesOf({ lists }: Upstream, selectors: readonly string[]): string[] {
  return selectors.flatMap((selector) => dlcNames(lists, selector));
}

/** The names of a list of domain-list-community, without its rules for which no name stands. */
export function dlcNames(lists: DlcLists, selector: string): string[] {
  const rules = resolveDlc(lists, selector).split('\n');
  return rules.flatMap((rule) => {
    const [, kind = '', name = ''] = /^(?:(\w+):)?(\S*)/.exec(rule) ?? [];
    return PATTERNS.has(kind.toLowerCase()) || name === '' ? [] : [name];
  });
}

/** Sorted, without those of `except`, public suffixes, duplicates, and names that another one covers. */
function covering(names: readonly string[], except: readonly string[] = []): string[] {
  const all = new Set(
    names
      .map((name) => normaliseDomain(name))
      .filter((name) => !except.includes(name) && !isPublicSuffix(name)),
  );
  return [...all].filter((name) => !parentsOf(name).some((parent) => all.has(parent))).sort();
}

/** `a.b.example`: `b.example`, `example`. */
function parentsOf(name: string): string[] {
  const labels = name.split('.');
  return labels.slice(1).map((_, i) => labels.slice(i + 1).join('.'));
}

const ORIGIN = `# Made of the lists in upstream/, as upstream/groups.yaml says. Both are under the MIT licence:
# domain-list-community of v2fly, third-party-web of Patrick Hulce.
`;

function listFile(names: readonly string[]): string {
  return `${ORIGIN}${names.map((name) => `${name}\n`).join('')}`;
}

function applicationsFile(applications: readonly Application[]): string {
  const entries = applications.map(({ id, name, names }) => ({ id, name, domains: names }));
  return `${ORIGIN}${stringify({ applications: entries }, { singleQuote: true })}`;
}
