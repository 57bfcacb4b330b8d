import { Body, Controller } from '@nestjs/common';
import { ApiEndpoint } from '../http/routing/endpoint.js';
import type { WithRevision } from '../revisions/with-revision.js';
import { InitService } from './init.service.js';
import { InitDto } from './read/init.dto.js';

@Controller()
export class InitController {
  constructor(private readonly init: InitService) {}

  @ApiEndpoint('POST /init/', {
    scope: 'replace',
    streamed: InitDto,
    summary: 'Replaces the whole configuration',
  })
  replace(@Body() body: AsyncIterable<Uint8Array>): Promise<WithRevision<void>> {
    return this.init.replace(body);
  }
}
