import { Body, Controller, Param, Query } from '@nestjs/common';
import { ApiEndpoint } from '../../http/routing/endpoint.js';
import type { Json } from '../../http/validation/dto.js';
import type { Listing } from '../../revisions/listing.js';
import type { WithRevision } from '../../revisions/with-revision.js';
import { DomainHasher } from '../domain-lists/domain-check.js';
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
} from './order.dto.js';
import { OrdersService } from './orders.service.js';

@Controller()
export class OrdersController {
  constructor(
    private readonly orders: OrdersService,
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
  list(@Query() query: OrdersQuery): Promise<WithRevision<Listing<Json<OrderStateDto>>>> {
    return this.orders.list(query, toStateDto);
  }

  @ApiEndpoint('POST /orders/', {
    body: OrderDto,
    summary: 'Denies a domain, and all names below it, to everybody',
    answer: StoredOrderDto,
    errors: [409],
  })
  async create(@Body() body: OrderDto): Promise<WithRevision<Json<StoredOrderDto>>> {
    return (await this.orders.create(toOrder(body, this.hash))).map(toDto);
  }

  @ApiEndpoint('GET /orders/:id', {
    path: OrderPath,
    summary: 'One order, with when it was in force on how many resolvers',
    answer: OrderStateDto,
    errors: [404],
  })
  async get(@Param() path: OrderPath): Promise<WithRevision<Json<OrderStateDto>>> {
    return (await this.orders.get(path.id)).map(toStateDto);
  }

  @ApiEndpoint('PATCH /orders/:id', {
    path: OrderPath,
    body: PatchOrderDto,
    repeats: { id: ['id'] },
    summary: 'Changes an order',
    answer: OrderStateDto,
    errors: [404],
  })
  async update(
    @Param() path: OrderPath,
    @Body() body: PatchOrderDto,
  ): Promise<WithRevision<Json<OrderStateDto>>> {
    return (await this.orders.update(path.id, toPatch(body, this.hash))).map(toStateDto);
  }

  @ApiEndpoint('DELETE /orders/:id', {
    path: OrderPath,
    summary: 'Deletes an order, which ends it',
    errors: [404],
  })
  remove(@Param() path: OrderPath): Promise<WithRevision<void>> {
    return this.orders.remove(path.id);
  }

  private readonly hash = (domain: string): number => this.hasher.hash(domain);
}
