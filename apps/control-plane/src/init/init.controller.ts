import { Controller, Post, Req } from '@nestjs/common';
import { RequireScope } from '../http/callers/require-scope.js';
import type { Request } from '../http/routing/http.js';
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
  replace(@Req() request: Request): Promise<WithRevision<void>> {
    return this.init.replace(request.body as AsyncIterable<Uint8Array>);
  }
}
