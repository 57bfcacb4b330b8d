import type { ChangeDto, ChangesDto } from '@weir/control-plane/changes/change.dto';
import { Api } from '../api/api.js';
import { readEvents, untilInterrupted } from '../api/events.js';
import type { Context, JsonOption } from '../context.js';
import { textOf } from '../terminal.js';

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

/** Prints who changed what, with --follow as it comes. */
export async function changes(context: Context, options: Options): Promise<void> {
  const { environment, terminal } = context;
  const { follow, after, limit, profile: profile_id, token, json } = options;
  const api = new Api(environment);
  const which = { profile_id, token };
  const first = after === undefined ? { last: limit ?? NEWEST } : { after, limit };
  if (!follow) {
    const answer = await api.get<ChangesDto>('/changes/', 'changes', { ...first, ...which });
    return terminal.print(...(json ? [JSON.stringify(answer)] : answer.changes.map(render)));
  }
  let seen: number | undefined;
  await untilInterrupted(context, (signal) => {
    const from = seen === undefined ? first : { after: seen };
    return readEvents(api, '/changes/', { query: { ...from, ...which }, signal }, (data) => {
      const change = JSON.parse(data) as ChangeDto;
      seen = change.revision;
      terminal.print(json ? data : render(change));
    });
  });
}

function render({ revision, time, token, method, route, changed, request_id }: ChangeDto): string {
  const keys = changed.slice(0, KEYS_SHOWN).map(({ resource, key, action, count }) => {
    if (resource === 'more') return `${count} more`;
    return `${action === 'deleted' ? 'deleted ' : ''}${resource} ${keyOf(key)}`;
  });
  const more = changed.length > KEYS_SHOWN ? `, ${changed.length - KEYS_SHOWN} more` : '';
  const call = method === null ? '-' : `${method} ${route}`;
  const what = textOf(`${keys.join(', ')}${more}`);
  const who = `${textOf(token).padEnd(12)} ${textOf(call).padEnd(28)}`;
  return `${String(revision).padStart(8)}  ${textOf(time)}  ${who} ${what} (${textOf(request_id)})`;
}

function keyOf(key: unknown): string {
  if (typeof key !== 'object' || key === null) return textOf(key);
  return Object.entries(key)
    .map(([name, value]) => `${name} ${textOf(value)}`)
    .join(' ');
}
