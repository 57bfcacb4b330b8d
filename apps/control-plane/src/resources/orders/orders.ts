import { Body, Controller, Param, Query } from '@nestjs/common';
import type { Order } from '@weir/config-model';
import { conflict, orNotFound } from '../../http/errors/errors.js';
import { type Answer, ApiEndpoint, type Listed } from '../../http/routing/endpoint.js';
import { Database } from '../../platform/database/database.js';
import { ConfigurationReader } from '../../revisions/configuration-reader.js';
import { ConfigurationWriter } from '../../revisions/configuration-writer.js';
import type { SubmittedChange } from '../../revisions/working-tables.js';
import type { WithRevision } from '../../revisions/with-revision.js';
import { DomainHasher } from '../domain-lists/domain-check.js';
import {
  FILTERED_ORDERS,
  type InForce,
  KEEP_IN_FORCE,
  openOrders,
  orderOf,
  type OrderState,
} from './order-store.js';
import {
  OrderDto,
  OrderPath,
  OrdersQuery,
  OrderStateDto,
  PatchOrderDto,
  StoredOrderDto,
  toDto,
  toOrder,
  toPatch,
  toStateDto,
  filterValues,
} from './order.dto.js';

/** Orders: what everybody is denied (decisions §14). Domains are known only by their hashes. */
@Controller()
export class OrdersController {
  constructor(
    private readonly reader: ConfigurationReader,
    private readonly writer: ConfigurationWriter,
    private readonly database: Database,
    private readonly hasher: DomainHasher,
  ) {}

  @ApiEndpoint('GET /orders/', {
    query: OrdersQuery,
    isListing: true,
    summary: 'The orders, by id; those that have ended too',
    description:
      'Without parameters it answers all. A page begins after the last id of the one before.',
    answer: [OrderStateDto],
  })
  list(@Query() query: OrdersQuery): Listed<OrderStateDto> {
    return this.reader.list(FILTERED_ORDERS, toStateDto, filterValues(query));
  }

  @ApiEndpoint('POST /orders/', {
    body: OrderDto,
    summary: 'Denies a domain, and all names below it, to everybody',
    answer: StoredOrderDto,
    errors: [409],
  })
  async create(@Body() body: OrderDto): Answer<StoredOrderDto> {
    const order = toOrder(body, this.hash);
    const made = await this.put({
      need: (tables) => tables.of(openOrders).need(order),
      make: (tables, revision) => {
        const orders = tables.of(openOrders);
        if (orders.find(order)) throw conflict(`order ${order.id} already exists`);
        const after = { ...order, revision };
        orders.put(after);
        return { result: after, changes: [{ kind: 'order', before: null, after }] };
      },
    });
    return made.map(toDto);
  }

  @ApiEndpoint('GET /orders/:id', {
    path: OrderPath,
    summary: 'One order, with when it was in force on how many resolvers',
    answer: OrderStateDto,
    errors: [404],
  })
  get(@Param() { id }: OrderPath): Answer<OrderStateDto> {
    return this.reader.read(orderOf(id), ([row]: OrderState[]) => toStateDto(existing(id, row)));
  }

  @ApiEndpoint('PATCH /orders/:id', {
    path: OrderPath,
    body: PatchOrderDto,
    repeats: { id: ['id'] },
    summary: 'Changes an order',
    answer: OrderStateDto,
    errors: [404],
  })
  async update(@Param() { id }: OrderPath, @Body() body: PatchOrderDto): Answer<OrderStateDto> {
    const patch = toPatch(body, this.hash);
    const made = await this.put({
      need: (tables) => tables.of(openOrders).need({ id }),
      make: (tables, revision) => {
        const before = existing(id, tables.of(openOrders).find({ id }));
        const after = { ...before, ...patch, revision };
        tables.of(openOrders).put(after);
        return { result: after, changes: [{ kind: 'order', before, after }] };
      },
    });
    return made.map(toStateDto);
  }

  @ApiEndpoint('DELETE /orders/:id', {
    path: OrderPath,
    summary: 'Deletes an order, which ends it',
    errors: [404],
  })
  remove(@Param() { id }: OrderPath): Answer<void> {
    return this.writer.write({
      need: (tables) => tables.of(openOrders).need({ id }),
      make: (tables) => {
        const before = existing(id, tables.of(openOrders).find({ id }));
        tables.of(openOrders).delete({ id });
        return { result: undefined, changes: [{ kind: 'order', before, after: null }] };
      },
    });
  }

  /** Makes a change, and keeps with the order what the resolvers acknowledged of it. */
  private async put(change: SubmittedChange<Order>): Promise<WithRevision<OrderState>> {
    const made = await this.writer.write(change);
    const { applied: k, total: m } = made.applied ?? { applied: 0, total: 0 };
    const inForce: InForce = { revision: made.revision, k, m, at: new Date().toISOString() };
    // The change is made, and is answered whatever becomes of this: without it `in_force` is null.
    await this.database.pool
      .query(KEEP_IN_FORCE, [made.result.id, JSON.stringify(inForce)])
      .catch(() => undefined);
    return made.map((order) => ({ ...order, inForce }));
  }

  private readonly hash = (domain: string): number => this.hasher.hash(domain);
}

function existing<T extends Order>(id: number, order: T | null | undefined): T {
  return orNotFound(order, `order ${id}`);
}
