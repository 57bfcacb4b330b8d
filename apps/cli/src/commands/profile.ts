import type { StoredGrantDto } from '@weir/control-plane/resources/grants/grant.dto';
import { text } from 'node:stream/consumers';
import { Api } from '../api/api.js';
import type { Context } from '../context.js';
import { textOf } from '../terminal.js';
import { acknowledged, proofOf } from './orders.js';

interface WeekOptions {
  readonly from?: string;
  readonly days?: number;
  readonly json?: true;
}

/** Prints which profile is active when. */
export async function week(
  { environment, terminal }: Context,
  id: number,
  { from, days, json }: WeekOptions,
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

interface Options {
  readonly json?: true;
}

/** The options of a grant that is added. */
export interface NewGrant extends Options {
  readonly minutes?: number;
  readonly until?: string;
}

/** Prints the grants of a profile that hold. */
export async function listGrants(
  { environment, terminal }: Context,
  profile: number,
  { json }: Options,
): Promise<void> {
  const all = await new Api(environment).get<readonly StoredGrantDto[]>(pathOf(profile));
  if (json === true) {
    terminal.print(JSON.stringify(all));
    return;
  }
  const rows = all.map(({ id, verdict, until }) => [id, verdict, until].map(textOf));
  terminal.printTable(['id', 'verdict', 'until'], rows, 3);
}

/** Allows or denies a domain for a while. */
export async function addGrant(
  { environment, terminal }: Context,
  profile: number,
  verdict: string,
  domain: string,
  { minutes, until, json }: NewGrant,
): Promise<void> {
  const body = JSON.stringify({ domain, verdict, minutes, until });
  const answer = await new Api(environment).call(pathOf(profile), { method: 'POST', body });
  const said = await text(answer);
  const grant = JSON.parse(said) as StoredGrantDto;
  const proof = proofOf(answer.headers);
  terminal.print(
    json === true ? said : `grant ${textOf(grant.id)} until ${textOf(grant.until)} is ${proof}`,
  );
}

/** Ends a grant at once. */
export async function deleteGrant(
  { environment, terminal }: Context,
  profile: number,
  id: number,
  { json }: Options,
): Promise<void> {
  const path = `${pathOf(profile)}/${id}`;
  const { headers } = await new Api(environment).call(path, { method: 'DELETE' });
  terminal.print(
    json === true ? acknowledged(headers) : `the end of grant ${id} is ${proofOf(headers)}`,
  );
}

function pathOf(profile: number): string {
  return `/profile/${profile}/grants`;
}
