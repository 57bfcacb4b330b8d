import { Controller, Post, Req } from '@nestjs/common';
import type { Request } from '../http/routing/http.js';
import { Gives, Takes } from '../http/routing/shape.js';
import type { Revised } from '../revisions/revised.js';
import { InitDto } from './read/init.dto.js';
import { InitService } from './init.service.js';

@Controller('init')
export class InitController {
  constructor(private readonly init: InitService) {}

  @Post()
  @Takes({ streamed: InitDto })
  @Gives({ summary: 'Replaces the whole configuration', status: 204 })
  replace(@Req() request: Request): Promise<Revised<void>> {
    return this.init.replace(request.body as AsyncIterable<Uint8Array>);
  }
}
