import type { ResolverDto } from '@weir/control-plane/resources/resolvers/resolvers';
import { Api } from '../api/api.js';
import { untilInterrupted } from '../api/events.js';
import type { Context, JsonOption } from '../context.js';
import { textOf } from '../terminal.js';

const HEADINGS = [
  ...['name', 'state', 'address', 'version', 'last seen', 'upstreams'],
  ...['revision', 'behind', 'catalogue', 'threads', 'answers/s', 'cache', 'blocked'],
];
const LEFT_COLUMNS = 6;
const COLOURS: Readonly<Record<string, 'green' | 'yellow' | 'red'>> = {
  ...{ live: 'green', catching_up: 'yellow', missing: 'red' },
};

/** Prints the resolvers, with --watch again each second. */
export async function resolvers(
  context: Context,
  { watch, json }: JsonOption & { readonly watch?: true },
): Promise<void> {
  const { environment, terminal } = context;
  const api = new Api(environment);
  const show = async (signal?: AbortSignal): Promise<void> => {
    const all = await api.get<readonly ResolverDto[]>('/resolvers/', ['upstreams'], {}, signal);
    if (json) return terminal.print(JSON.stringify(all));
    if (watch) terminal.clearScreen();
    terminal.printTable(HEADINGS, all.map(rowOf), LEFT_COLUMNS, (i) => COLOURS[all[i].state]);
  };
  await (watch ? untilInterrupted(context, show) : show());
}

function rowOf(one: ResolverDto): string[] {
  return [
    ...[one.name, one.state, one.address, one.version, one.last_seen].map(textOf),
    upstreamsOf(one),
    String(one.revision),
    one.behind_revisions === 0
      ? '0'
      : `${textOf(one.behind_revisions)} (${textOf(one.behind_seconds)} s)`,
    ...[one.catalogue, one.threads, one.answers_per_second].map(textOf),
    ...[one.cache_hit_ratio, one.blocked_ratio].map(percent),
  ];
}

function upstreamsOf({ upstreams }: ResolverDto): string {
  const down = upstreams.filter(({ state }) => state !== 'up');
  const names = down.map(({ address, state }) => `${textOf(address)} ${textOf(state)}`).join(', ');
  return `${upstreams.length - down.length} of ${upstreams.length} up${names === '' ? '' : `: ${names}`}`;
}

function percent(ratio: number | null): string {
  return ratio === null ? '-' : `${(ratio * 100).toFixed(1)}%`;
}
