import {
  CatalogueError,
  type Definition,
  isSecretSource,
  NeverBlock,
  type ReadList,
  type SourceDefinition,
  sourcesOf,
} from '@weir/catalogue';
import { SuffixHashes, toWireName } from '@weir/dns-name';
import { type Context, Failure } from '../context.js';
import { compileLists } from './build.js';
import { ANY_KEY, readList } from './read-source.js';
import { grouped, table } from '../terminal.js';

const HEADINGS = ['source', 'format', 'names', 'skipped', 'invalid lines', 'protected', 'seconds'];
const LEFT_COLUMNS = 2;

/** Reads every source, and reports on each. @throws Failure when one of them cannot be used. */
export async function check(definition: Definition, context: Context): Promise<void> {
  const { terminal } = context;
  const { categories, applications } = definition;
  const inline = [...categories, ...applications].flatMap(({ domains }) => domains);
  const groups = `${grouped(categories.length)} categories and ${grouped(applications.length)} applications`;
  terminal.print(`${groups}, ${grouped(new Set(inline).size)} domains in catalogue.yaml`);
  const rows: string[][] = [];
  const invalid: string[] = [];
  const protectedLines: string[] = [];
  const faults: string[] = [];
  const lists = new Map<SourceDefinition, ReadList>();
  const sources = sourcesOf(definition);
  for (const source of sources) {
    const startMs = performance.now();
    try {
      const list = await readList(source, definition, ANY_KEY, context);
      const { names, report, protectedNames } = list;
      lists.set(source, list);
      const seconds = ((performance.now() - startMs) / 1000).toFixed(1);
      const counts = [names.count, report.skipped, report.invalidLines, protectedNames.count];
      rows.push([source.name, source.format, ...counts.map(grouped), seconds]);
      for (const { line, problem } of report.examples) {
        invalid.push(`  ${source.name}:${line}: ${problem}`);
      }
      const shown = isSecretSource(definition, source) ? [] : list.protectedLines;
      for (const { line, problem } of shown) {
        protectedLines.push(`  ${source.name}:${line}: ${problem}${takenBy(source, definition)}`);
      }
    } catch (error) {
      if (!(error instanceof CatalogueError)) throw error;
      faults.push(error.message);
    }
  }
  if (rows.length > 0) terminal.print(...table([HEADINGS, ...rows], LEFT_COLUMNS));
  if (invalid.length > 0)
    terminal.print('invalid lines, the first ten of each source:', ...invalid);
  if (protectedLines.length > 0)
    terminal.print('lines with a protected name, the first ten of each source:', ...protectedLines);
  terminal.print(...inlineLines(definition), ...popularLines(definition, lists));
  for (const fault of faults) terminal.printError(`weir: ${fault}`);
  const usable = grouped(sources.length - faults.length);
  if (sources.length === 0)
    terminal.print('no sources: only the domains in catalogue.yaml are listed');
  else terminal.print(`${usable} of ${grouped(sources.length)} sources can be used`);
  if (faults.length > 0) throw new Failure();
}

/** Which categories take the protected names of a source all the same. */
function takenBy(source: SourceDefinition, { categories }: Definition): string {
  const legal = categories.filter((group) => !group.isGuarded && group.sources.includes(source));
  if (legal.length === 0) return '';
  const ids = legal.map(({ id }) => id).join(', ');
  return `; category ${ids} takes it, because its purpose is legal`;
}

/** Domains of the definition itself are taken, whatever `never_block` says: somebody has written both on purpose. */
function inlineLines({ categories, neverBlock }: Definition): string[] {
  const never = new NeverBlock(neverBlock, ANY_KEY);
  const hashes = new SuffixHashes(ANY_KEY);
  const shown = categories.filter(({ secret }) => !secret);
  return shown.flatMap(({ domains, domainPlaces }) =>
    domains.flatMap((domain, i) => {
      hashes.compute(toWireName(domain), 0);
      const blocked = never.blockedBy(hashes);
      if (blocked === undefined) return [];
      const { file, line } = domainPlaces[i];
      return [`${file}:${line}: ${domain} blocks ${blocked} of never_block`];
    }),
  );
}

/** Categories that block well-known domains although nobody expects it. */
function popularLines(
  definition: Definition,
  lists: ReadonlyMap<SourceDefinition, ReadList>,
): string[] {
  const { categories } = definition;
  return compileLists(definition, lists, ANY_KEY).popular.map(({ categoryId, count, domains }) => {
    const category = categories.find(({ id }) => id === categoryId);
    const examples = domains.length === 0 ? '' : `: ${domains.join(', ')}`;
    return `category ${categoryId}, ${category?.name} blocks ${count} well-known domains${examples}`;
  });
}
