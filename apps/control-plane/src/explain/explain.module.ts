import { Controller, Module, Query } from '@nestjs/common';
import { parseTime } from '@weir/ops';
import { ReadingEndpoint } from '../http/routing/endpoint.js';
import type { Json } from '../http/validation/dto.js';
import { ExplainQuery, ExplanationDto } from './explain.dto.js';
import { ExplainService } from './explain.service.js';
import { SubscribersController } from './subscribers.controller.js';
import { readType } from './record-types.js';

@Controller()
export class ExplainController {
  constructor(private readonly service: ExplainService) {}

  @ReadingEndpoint('GET /explain/', {
    query: ExplainQuery,
    summary: 'What a client gets for a name, and why',
    answer: ExplanationDto,
  })
  explain(@Query() query: ExplainQuery): Promise<Json<ExplanationDto>> {
    const { client, domain, port = null, type, at } = query;
    const qtype = readType(type) ?? 0;
    const atMs = at === undefined ? Date.now() : parseTime(at);
    return this.service.explain({ client, domain, port, qtype, atMs });
  }
}

@Module({ controllers: [ExplainController, SubscribersController] })
export class ExplainModule {}
