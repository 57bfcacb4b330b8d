import {
  CatalogueError,
  type Definition,
  type ReadList,
  readNames,
  type SourceDefinition,
  sourcesOf,
} from '@weir/catalogue';
import { ANY_KEY, withSource } from './read-source.js';
import { grouped, table, type Terminal } from './terminal.js';

const HEADINGS = ['source', 'format', 'names', 'skipped', 'invalid lines', 'seconds'];
const LEFT_COLUMNS = 2;

/** Reads every source, and reports on each. @returns whether all of them can be used. */
export async function check(definition: Definition, terminal: Terminal): Promise<boolean> {
  const { categories, applications } = definition;
  const inline = [...categories, ...applications].flatMap(({ domains }) => domains);
  const groups = `${grouped(categories.length)} categories and ${grouped(applications.length)} applications`;
  terminal.print(`${groups}, ${grouped(new Set(inline).size)} domains in catalogue.yaml`);
  const rows: string[][] = [];
  const invalid: string[] = [];
  const faults: string[] = [];
  const sources = sourcesOf(definition);
  for (const source of sources) {
    const startMs = performance.now();
    try {
      const { names, report } = await readWhole(source, terminal);
      const seconds = ((performance.now() - startMs) / 1000).toFixed(1);
      const counts = [names.count, report.skipped, report.invalidLines].map(grouped);
      rows.push([source.name, source.format, ...counts, seconds]);
      for (const { line, problem } of report.examples) {
        invalid.push(`  ${source.name}:${line}: ${problem}`);
      }
    } catch (error) {
      if (!(error instanceof CatalogueError)) throw error;
      faults.push(error.message);
    }
  }
  if (rows.length > 0)
    table([HEADINGS, ...rows], LEFT_COLUMNS).forEach((row) => terminal.print(row));
  if (invalid.length > 0) terminal.print('invalid lines, the first ten of each source:');
  for (const line of invalid) terminal.print(line);
  for (const fault of faults) terminal.printError(`catalogue: ${fault}`);
  const usable = grouped(sources.length - faults.length);
  if (sources.length === 0)
    terminal.print('no sources: only the domains in catalogue.yaml are listed');
  else terminal.print(`${usable} of ${grouped(sources.length)} sources can be used`);
  return faults.length === 0;
}

function readWhole(source: SourceDefinition, terminal: Terminal): Promise<ReadList> {
  return withSource(source, terminal, async (body) => {
    const list = await readNames(body, source.format, ANY_KEY);
    if (list.names.count === 0) throw new CatalogueError(`lists no domain ${reasonOf(list)}`);
    return list;
  });
}

/** The counts of a list, which show why it has no domain: it is empty or has another format. */
function reasonOf({ report: { lines, skipped, invalidLines, examples } }: ReadList): string {
  const counts = `${grouped(lines)} lines, ${grouped(skipped)} entries skipped, ${grouped(invalidLines)} lines invalid`;
  const [first] = examples;
  return first === undefined ? `(${counts})` : `(${counts}; line ${first.line} ${first.problem})`;
}
