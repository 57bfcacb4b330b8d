import type { StoredGrantDto } from '@weir/control-plane/resources/grants/grant.dto';
import { Api } from '../api/api.js';
import { change } from '../api/change.js';
import type { Context, JsonOption } from '../context.js';
import { textOf } from '../terminal.js';

/** Prints which profile is active when. */
export async function week(
  { environment, terminal }: Context,
  id: number,
  _what: 'week',
  { json, ...query }: JsonOption & { readonly from?: string; readonly days?: number },
): Promise<void> {
  const path = `/profile/${id}/switches`;
  const switches = await new Api(environment).get<
    readonly { readonly from: string; readonly until: string; readonly active_id: number }[]
  >(path, ['active_id'], query);
  if (json) return terminal.print(JSON.stringify(switches));
  const rows = switches.map((one) => [dayOf(one.from), dayOf(one.until), String(one.active_id)]);
  terminal.printTable(['from', 'until', 'active profile'], rows, 2);
}

/** As `Tue 2026-11-24T20:00:00+01:00`: the time is local already. */
function dayOf(time: string): string {
  const day = new Date(`${time.slice(0, 10)}T00:00:00Z`);
  const name = day.toLocaleDateString('en', { weekday: 'short', timeZone: 'UTC' });
  return `${name} ${textOf(time)}`;
}

/** Prints the grants of a profile that hold. */
export async function listGrants(
  { environment, terminal }: Context,
  profile: number,
  { json }: JsonOption,
): Promise<void> {
  const all = await new Api(environment).get<readonly StoredGrantDto[]>(pathOf(profile), ['until']);
  if (json) return terminal.print(JSON.stringify(all));
  const rows = all.map(({ id, verdict, until }) => [id, verdict, until].map(textOf));
  terminal.printTable(['id', 'verdict', 'until'], rows, 3);
}

/** Allows or denies a domain for a while. */
export function addGrant(
  context: Context,
  profile: number,
  verdict: string,
  domain: string,
  { json, ...end }: JsonOption & { readonly minutes?: number; readonly until?: string },
): Promise<void> {
  const what = (answer: string): string => {
    const { id, until } = JSON.parse(answer) as StoredGrantDto;
    return `grant ${textOf(id)} until ${textOf(until)}`;
  };
  const body = { domain, verdict, ...end };
  return change(context, 'POST', pathOf(profile), { body, json, what });
}

/** Ends a grant at once. */
export function deleteGrant(
  context: Context,
  profile: number,
  id: number,
  { json }: JsonOption,
): Promise<void> {
  const what = (): string => `the end of grant ${id}`;
  return change(context, 'DELETE', `${pathOf(profile)}/${id}`, { json, what });
}

function pathOf(profile: number): string {
  return `/profile/${profile}/grants`;
}
