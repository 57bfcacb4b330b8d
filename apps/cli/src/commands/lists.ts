import type {
  CatalogueDto,
  CatalogueSourceDto,
  CategoryDto,
  ListedNameDto,
} from '@weir/control-plane/resources/catalogue/catalogue.dto';
import { Api } from '../api/api.js';
import { type Context, Failure, type JsonOption } from '../context.js';
import { grouped, textOf } from '../terminal.js';

const COLOURS: Readonly<Record<string, 'green' | 'yellow' | 'red'>> = {
  ...{ good: 'green', held: 'yellow', failing: 'red', never: 'red' },
};

/** Prints the categories. */
export async function categories(
  { environment, terminal }: Context,
  { json }: JsonOption,
): Promise<void> {
  const all = await new Api(environment).get<readonly CategoryDto[]>('/categories/', ['id']);
  if (json) return terminal.print(JSON.stringify(all));
  const rows = all.map(({ id, name, group, purpose, mandatory, domains }) => [
    ...[id, name, group, purpose].map(textOf),
    mandatory === false ? '-' : 'yes',
    domains === undefined ? 'secret' : grouped(domains),
  ]);
  terminal.printTable(['id', 'name', 'group', 'purpose', 'mandatory', 'domains'], rows, 5);
}

/** Prints the catalogue in force, and how each of its sources does. */
export async function sources(
  { environment, terminal }: Context,
  { json }: JsonOption,
): Promise<void> {
  const catalogue = await new Api(environment).get<CatalogueDto>('/catalogue/', 'sources');
  if (json) return terminal.print(JSON.stringify(catalogue));
  const { version, active_since, popular, sources: all } = catalogue;
  terminal.print(`version ${textOf(version)}, in force since ${textOf(active_since)}`);
  const rows = all.map((one) => [
    groupOf(one),
    ...[one.source, one.format, one.state, one.licence, one.last_good].map(textOf),
    grouped(one.names),
  ]);
  const headings = ['of', 'source', 'format', 'state', 'licence', 'last good', 'names'];
  terminal.printTable(headings, rows, 6, (i) => COLOURS[all[i].state]);
  for (const { source, state, mirror, reason } of all) {
    const from = mirror === null ? '' : `; the list is of ${textOf(mirror)}`;
    if (reason !== null) terminal.print(`${state}: ${textOf(source)} ${textOf(reason)}${from}`);
  }
  for (const { cat_id, count, domains = ['secret'] } of popular) {
    const examples = domains.map(textOf).join(', ');
    terminal.print(`category ${cat_id} blocks ${count} well-known domains: ${examples}`);
  }
}

/** Prints which lists hold a domain or one above it. */
export async function search(
  { environment, terminal }: Context,
  domain: string,
  { json }: JsonOption,
): Promise<void> {
  const all = await new Api(environment).get<readonly ListedNameDto[]>(
    '/catalogue/search/',
    ['matched'],
    { domain },
  );
  if (json) return terminal.print(JSON.stringify(all));
  const rows = all.map((one) => [
    groupOf(one),
    ...[one.name, one.source, one.matched, one.since, one.line].map(textOf),
  ]);
  terminal.printTable(['of', 'name', 'source', 'matched', 'since', 'line'], rows, 5);
}

/** Takes the held list of a source. */
export async function acceptList(
  { environment, terminal }: Context,
  source: string,
  { json }: JsonOption,
): Promise<void> {
  const api = new Api(environment);
  const { sources: all } = await api.get<CatalogueDto>('/catalogue/', 'sources');
  const held = all.find((one) => one.source === source && one.state === 'held');
  if (held === undefined) throw new Failure(`no list of ${textOf(source)} is held`);
  const { cat_id, app_id } = held;
  const body = JSON.stringify(cat_id === null ? { app_id, source } : { cat_id, source });
  const { said } = await api.ask('/catalogue/accept', { method: 'POST', body });
  const { names } = JSON.parse(said) as CatalogueSourceDto;
  terminal.print(json ? said : `${textOf(source)}: a list of ${grouped(names)} names is taken`);
}

function groupOf({ cat_id, app_id }: Pick<CatalogueSourceDto, 'cat_id' | 'app_id'>): string {
  return typeof cat_id === 'number' ? `category ${cat_id}` : `application ${textOf(app_id)}`;
}
