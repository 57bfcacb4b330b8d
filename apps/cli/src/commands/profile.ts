import { Api } from '../api/api.js';
import type { Context } from '../context.js';
import { textOf } from '../terminal.js';

interface Options {
  readonly from?: string;
  readonly days?: number;
  readonly json?: true;
}

/** Prints which profile is active when. */
export async function week(
  { environment, terminal }: Context,
  id: number,
  { from, days, json }: Options,
): Promise<void> {
  const path = `/profile/${id}/switches`;
  const switches = await new Api(environment).get<
    readonly { readonly from: string; readonly until: string; readonly active_id: number }[]
  >(path, { from, days });
  if (json === true) terminal.print(JSON.stringify(switches));
  else {
    const rows = switches.map((one) => [dayOf(one.from), dayOf(one.until), String(one.active_id)]);
    terminal.printTable(['from', 'until', 'active profile'], rows, 2);
  }
}

/** As `Tue 2026-11-24T20:00:00+01:00`: the time is local already. */
function dayOf(time: string): string {
  const day = new Date(`${time.slice(0, 10)}T00:00:00Z`);
  const name = day.toLocaleDateString('en', { weekday: 'short', timeZone: 'UTC' });
  return `${name} ${textOf(time)}`;
}
