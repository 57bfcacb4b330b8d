import type { ChangeDto, ChangesDto } from '@weir/control-plane/changes/change.dto';
import { Api } from '../api/api.js';
import { readEvents, untilInterrupted } from '../api/events.js';
import type { Context, JsonOption } from '../context.js';
import { table, textOf } from '../terminal.js';

interface Options extends JsonOption {
  readonly follow?: true;
  readonly after?: number;
  readonly limit?: number;
  readonly profile?: number;
  readonly token?: string;
}

const NEWEST = 100;
/** Of one change; a batch has up to ten thousand. */
const KEYS_SHOWN = 5;
/** Widths of the columns before the last one, for changes that are followed. No call has a longer route. */
const WIDTHS = [8, 24, 12, 56];

/** Prints who changed what, with --follow as it comes. */
export async function changes(context: Context, options: Options): Promise<void> {
  const { environment, terminal } = context;
  const { follow, after, limit, profile: profile_id, token, json } = options;
  const api = new Api(environment);
  const which = { profile_id, token };
  const first = after === undefined ? { last: limit ?? NEWEST } : { after, limit };
  if (!follow) {
    const answer = await api.get<ChangesDto>('/changes/', 'changes', { ...first, ...which });
    const lines = json
      ? [JSON.stringify(answer)]
      : table(answer.changes.map(cellsOf), WIDTHS.length + 1);
    return terminal.print(...lines);
  }
  let seen: number | undefined;
  await untilInterrupted(context, (signal) => {
    const from = seen === undefined ? first : { after: seen };
    return readEvents(api, '/changes/', { query: { ...from, ...which }, signal }, (data) => {
      const change = JSON.parse(data) as ChangeDto;
      seen = change.revision;
      const padded = cellsOf(change).map((cell, i) => cell.padEnd(WIDTHS[i] ?? 0));
      terminal.print(json ? data : padded.join('  '));
    });
  });
}

function cellsOf(change: ChangeDto): string[] {
  const { revision, time, token, method, route, changed, request_id } = change;
  // An entry `more`, which comes last, has the count of those whose keys are not recorded.
  const keys = changed
    .filter(({ resource }, i) => i < KEYS_SHOWN && resource !== 'more')
    .map(({ resource, key, action }) => {
      return `${action === 'deleted' ? 'deleted ' : ''}${resource} ${keyOf(key)}`;
    });
  const others = changed.slice(keys.length).reduce((sum, { count }) => sum + count, 0);
  const more = others > 0 ? `, ${others} more` : '';
  const call = method === null ? '-' : `${method} ${route}`;
  const what = `${textOf(`${keys.join(', ')}${more}`)} (${textOf(request_id)})`;
  return [String(revision).padStart(8), ...[time, token, call].map(textOf), what];
}

function keyOf(key: unknown): string {
  if (typeof key !== 'object' || key === null) return textOf(key);
  return Object.entries(key)
    .map(([name, value]) => `${name} ${textOf(value)}`)
    .join(' ');
}
