import { isPublicSuffix } from '@weir/catalogue';
import type { OrderStateDto } from '@weir/control-plane/resources/orders/order.dto';
import { DomainError, normaliseDomain } from '@weir/dns-name';
import type { IncomingHttpHeaders } from 'node:http';
import { text } from 'node:stream/consumers';
import { Api } from '../api/api.js';
import { type Context, UsageError } from '../context.js';
import { textOf } from '../terminal.js';

interface Options {
  readonly json?: true;
}

interface WithDomain extends Options {
  /** The domain may be one such as com or co.uk. */
  readonly publicSuffix?: true;
}

/** The options of an order that is added. */
export interface NewOrder extends WithDomain {
  readonly authority: string;
  readonly reference: string;
  readonly until?: string;
}

/** What changes about an order. */
export interface OrderChange extends WithDomain {
  readonly domain?: string;
  readonly authority?: string;
  readonly reference?: string;
  /** False: it has no end. */
  readonly until?: string | false;
}

/** What of the orders is listed. */
export interface ListedOrders extends Options {
  readonly search?: string;
  readonly state?: string;
}

/** Prints orders. */
export async function listOrders(
  { environment, terminal }: Context,
  { json, ...filter }: ListedOrders,
): Promise<void> {
  const all = await new Api(environment).get<readonly OrderStateDto[]>('/orders/', { ...filter });
  if (json === true) {
    terminal.print(JSON.stringify(all));
    return;
  }
  const states = all.map(stateOf);
  const rows = all.map((order, i) => [
    textOf(order.id),
    states[i],
    ...[order.until, order.in_force?.at].map(textOf),
    order.in_force === null ? '-' : `${order.in_force.k}/${order.in_force.m}`,
    ...[order.authority, order.reference].map(textOf),
  ]);
  const headings = ['id', 'state', 'until', 'in force at', 'on', 'authority', 'reference'];
  terminal.printTable(headings, rows, headings.length, (i) =>
    states[i] === 'ended' ? 'dim' : undefined,
  );
}

/** As `--state` of the list has it (decisions §14). */
function stateOf({ until, in_force: proof }: OrderStateDto): string {
  if (until !== null && Date.parse(until) <= Date.now()) return 'ended';
  return proof !== null && proof.m > 0 && proof.k === proof.m ? 'in_force' : 'pending';
}

/** Puts an order in force. */
export async function addOrder(
  { environment, terminal }: Context,
  id: number,
  domain: string,
  { authority, reference, until, json, publicSuffix }: NewOrder,
): Promise<void> {
  checkDomain(domain, publicSuffix);
  const body = JSON.stringify({ id, domain, authority, reference, until });
  const answer = await new Api(environment).call('/orders/', { method: 'POST', body });
  const said = await text(answer);
  terminal.print(json === true ? said : `order ${id} is ${proofOf(answer.headers)}`);
}

/** Changes an order, or nothing, to make its proof again. */
export async function changeOrder(
  { environment, terminal }: Context,
  id: number,
  { until, json, publicSuffix, ...others }: OrderChange,
): Promise<void> {
  checkDomain(others.domain, publicSuffix);
  const body = JSON.stringify({ ...others, until: until === false ? null : until });
  const answer = await new Api(environment).call(`/orders/${id}`, { method: 'PATCH', body });
  const said = await text(answer);
  terminal.print(json === true ? said : `order ${id} is ${proofOf(answer.headers)}`);
}

/** @throws UsageError when an order would deny all that is registered below a public suffix, and nobody said so. */
function checkDomain(domain: string | undefined, mayBePublicSuffix = false): void {
  if (domain === undefined || mayBePublicSuffix) return;
  let name: string;
  try {
    name = normaliseDomain(domain);
  } catch (error) {
    // The control plane says what is wrong with it.
    if (error instanceof DomainError) return;
    throw error;
  }
  if (!isPublicSuffix(name)) return;
  throw new UsageError(
    `${name} is a public suffix: all domains below it would be denied to everybody. ` +
      'If that is what was ordered, add --public-suffix',
  );
}

/** Deletes an order. */
export async function endOrder(
  { environment, terminal }: Context,
  id: number,
  { json }: Options,
): Promise<void> {
  const { headers } = await new Api(environment).call(`/orders/${id}`, { method: 'DELETE' });
  terminal.print(
    json === true ? acknowledged(headers) : `the end of order ${id} is ${proofOf(headers)}`,
  );
}

/** What the headers of a change say, as JSON. */
export function acknowledged(headers: IncomingHttpHeaders): string {
  const { 'x-config-revision': revision, 'x-config-applied': applied } = headers;
  return JSON.stringify({ revision: Number(revision), applied });
}

/** The same in words. */
export function proofOf(headers: IncomingHttpHeaders): string {
  const { 'x-config-revision': revision, 'x-config-applied': applied, date } = headers;
  return `in force on ${textOf(applied)} resolvers, revision ${textOf(revision)}, ${textOf(date)}`;
}
