import { Controller, Module, Query } from '@nestjs/common';
import { ClientAddress, type Incident, UNKNOWN_PORT } from '@weir/clients';
import { parseTime } from '@weir/ops';
import { ReadingEndpoint } from '../http/routing/endpoint.js';
import type { Json } from '../http/validation/dto.js';
import { ExplainQuery, ExplanationDto } from './explain.dto.js';
import { ExplainService } from './explain.service.js';
import { SubscribersController } from './subscribers.controller.js';
import { readType } from './record-types.js';

const UNKNOWN = `It asks no upstream, and knows neither LOCAL_RECORDS nor DNS_ALLOWED_CLIENTS_FILE nor the designated
resolvers: a name with local records is answered by these, whatever it says here.`;

@Controller()
export class ExplainController {
  constructor(private readonly service: ExplainService) {}

  @ReadingEndpoint('GET /explain/', {
    query: ExplainQuery,
    summary: 'What a client gets for a name, and why',
    description: UNKNOWN,
    answer: ExplanationDto,
  })
  explain(@Query() query: ExplainQuery): Promise<Json<ExplanationDto>> {
    const { incident, type } = query;
    const asked = incident === undefined ? askedIn(query) : this.service.incidentOf(incident);
    return this.service.explain({ ...asked, qtype: readType(type) ?? 0 });
  }
}

/** Validation has seen that client and domain are there. */
function askedIn({ client: address = '', domain = '', port, at }: ExplainQuery): Incident {
  const client = new ClientAddress();
  client.set(address, port ?? UNKNOWN_PORT);
  return { client, domain, atMs: at === undefined ? Date.now() : parseTime(at) };
}

@Module({ controllers: [ExplainController, SubscribersController] })
export class ExplainModule {}
