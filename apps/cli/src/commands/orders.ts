import { isPublicSuffix } from '@weir/catalogue';
import type { OrderStateDto } from '@weir/control-plane/resources/orders/order.dto';
import { DomainError, normaliseDomain } from '@weir/dns-name';
import { Api } from '../api/api.js';
import { change } from '../api/change.js';
import { type Context, type JsonOption, UsageError } from '../context.js';
import { textOf } from '../terminal.js';

interface OrderOptions extends JsonOption {
  readonly domain?: string;
  readonly authority?: string;
  readonly reference?: string;
  /** False: it has no end. */
  readonly until?: string | false;
  /** The domain may be one such as com or co.uk. */
  readonly publicSuffix?: true;
}

/** Prints orders. */
export async function listOrders(
  { environment, terminal }: Context,
  { json, ...filter }: JsonOption & { readonly search?: string; readonly state?: string },
): Promise<void> {
  const all = await new Api(environment).get<readonly OrderStateDto[]>('/orders/', ['in_force'], {
    ...filter,
  });
  if (json) return terminal.print(JSON.stringify(all));
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
  context: Context,
  id: number,
  domain: string,
  { json, publicSuffix, ...others }: OrderOptions,
): Promise<void> {
  checkDomain(domain, publicSuffix);
  const body = { ...others, id, domain };
  await change(context, 'POST', '/orders/', { body, json, what: () => `order ${id}` });
}

/** Changes an order, or nothing, to make its proof again. */
export async function changeOrder(
  context: Context,
  id: number,
  { until, json, publicSuffix, ...others }: OrderOptions,
): Promise<void> {
  checkDomain(others.domain, publicSuffix);
  const body = { ...others, until: until === false ? null : until };
  await change(context, 'PATCH', `/orders/${id}`, { body, json, what: () => `order ${id}` });
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
export function endOrder(context: Context, id: number, { json }: JsonOption): Promise<void> {
  const what = (): string => `the end of order ${id}`;
  return change(context, 'DELETE', `/orders/${id}`, { json, what });
}
