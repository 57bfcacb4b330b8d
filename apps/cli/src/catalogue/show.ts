import {
  CatalogueError,
  type Definition,
  type GroupDefinition,
  NeverBlock,
  type SourceDefinition,
  sourcesOf,
  type VisitName,
  visitNames,
} from '@weir/catalogue';
import { SuffixHashes, toWireName } from '@weir/dns-name';
import { type Context, Failure } from '../context.js';
import { ANY_KEY, withSource } from './read-source.js';
import { table } from '../terminal.js';

/** A line that lists the domain or a parent of it. */
interface Mention {
  readonly domain: string;
  readonly where: string;
  /** The domain of `never_block` that it would block. */
  readonly blocked?: string | undefined;
}

/**
 * Prints the groups that list a domain or a parent of it, and the lines. Of secret categories nothing is told.
 * @throws Failure when a source could not be read.
 */
export async function show(
  definition: Definition,
  domain: string,
  context: Context,
): Promise<void> {
  const { terminal } = context;
  const bySource = new Map<string, Mention[]>();
  let allRead = true;
  for (const source of sourcesOf(definition)) {
    try {
      bySource.set(source.name, await mentionsIn(source, domain, definition, context));
    } catch (error) {
      if (!(error instanceof CatalogueError)) throw error;
      terminal.printError(`weir: ${error.message}`);
      allRead = false;
    }
  }
  const printed = (kind: string, groups: readonly GroupDefinition[]): number => {
    const listing = groups.map((group) => ({ group, found: mentions(group, domain, bySource) }));
    const belonging = listing.filter(({ found }) => found.length > 0);
    for (const { group, found } of belonging) {
      terminal.print(`${kind} ${group.id}, ${group.name}`);
      const rows = found.map((mention) => [`  ${mention.domain}`, mention.where]);
      terminal.print(...table(rows, 2));
    }
    return belonging.length;
  };
  const categories = definition.categories.filter(({ secret }) => !secret);
  const count = printed('category', categories) + printed('application', definition.applications);
  const but =
    categories.length < definition.categories.length ? ' (secret categories are not shown)' : '';
  if (count === 0) terminal.print(`${domain} belongs to no category and no application${but}`);
  if (!allRead) throw new Failure();
}

function mentions(
  { domains, domainPlaces, sources, isGuarded, rewrites }: GroupDefinition,
  domain: string,
  bySource: ReadonlyMap<string, readonly Mention[]>,
): Mention[] {
  const inline = domains
    .map((listed, i) => {
      const { file, line } = domainPlaces[i];
      return { domain: listed, where: `${file}:${line}` };
    })
    .filter((mention) => domain === mention.domain || domain.endsWith(`.${mention.domain}`));
  const rewritten = rewrites
    .filter(({ names }) => names.includes(domain))
    .map(({ to }) => ({ domain, where: `rewritten to ${to}` }));
  const listed = sources
    .flatMap(({ name }) => bySource.get(name) ?? [])
    .map(({ blocked, ...mention }) =>
      isGuarded && blocked !== undefined
        ? { ...mention, where: `${mention.where}, not taken: never_block has ${blocked}` }
        : mention,
    );
  return [...inline, ...rewritten, ...listed];
}

function mentionsIn(
  source: SourceDefinition,
  domain: string,
  { neverBlock }: Definition,
  context: Context,
): Promise<Mention[]> {
  const never = new NeverBlock(neverBlock, ANY_KEY);
  const labels = domain.split('.');
  const asked = new SuffixHashes(ANY_KEY);
  asked.compute(toWireName(domain), 0);
  return withSource(source, context, async (body) => {
    // Of this attempt: the next one reads a mirror.
    const found: Mention[] = [];
    const visit: VisitName = (hashes, line) => {
      const last = hashes.count - 1;
      if (last >= asked.count || hashes.low[last] !== asked.low[last]) return;
      if (hashes.high[last] !== asked.high[last]) return;
      found.push({
        domain: labels.slice(-hashes.count).join('.'),
        where: `${source.name}:${line}`,
        blocked: never.blockedBy(hashes),
      });
    };
    const { domains } = await visitNames(body, source.format, ANY_KEY, visit, {
      sha256: source.sha256,
      list: source.list,
    });
    if (domains === 0) throw new CatalogueError('lists no domain');
    return found;
  });
}
