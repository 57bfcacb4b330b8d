import { Body, Controller, Post } from '@nestjs/common';
import { RequireScope } from '../http/callers/require-scope.js';
import { ApiResponse, ApiRequest } from '../http/routing/request-shape.js';
import type { WithRevision } from '../revisions/with-revision.js';
import { InitService } from './init.service.js';
import { InitDto } from './read/init.dto.js';

@Controller('init')
export class InitController {
  constructor(private readonly init: InitService) {}

  @Post()
  @RequireScope('replace')
  @ApiRequest({ streamed: InitDto })
  @ApiResponse({ summary: 'Replaces the whole configuration', status: 204 })
  replace(@Body() body: AsyncIterable<Uint8Array>): Promise<WithRevision<void>> {
    return this.init.replace(body);
  }
}
