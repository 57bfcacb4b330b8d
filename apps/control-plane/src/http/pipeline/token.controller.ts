import { Controller, Inject, Req, Res } from '@nestjs/common';
import { IsOptional } from 'class-validator';
import { PROCESS, type Process } from '../../process.js';
import { SCOPES } from '../callers/scope.js';
import { ReadingEndpoint } from '../routing/endpoint.js';
import type { Request, Response } from '../routing/http.js';
import { Example, type Json } from '../validation/dto.js';
import { IsAnswered, IsList, IsOneOf, IsText, IsTime } from '../validation/rules.js';

@Example<OwnTokenDto>({
  name: 'billing',
  scope: 'write',
  sources: ['192.0.2.0/24'],
  expires: '2027-01-31T12:00:00.000Z',
})
class OwnTokenDto {
  @IsText('a name') name!: string;
  @IsOneOf(SCOPES) scope!: string;

  @IsOptional()
  @IsList()
  @IsAnswered({ type: 'string' }, { each: true })
  sources!: readonly string[] | null;

  @IsOptional() @IsTime() expires!: string | null;
}

@Controller()
export class TokenController {
  constructor(@Inject(PROCESS) private readonly process: Process) {}

  @ReadingEndpoint('GET /token/', {
    summary: 'What the token of this call may do, from where and until when',
    answer: OwnTokenDto,
    headers: {
      'X-Schedule-Timezone': {
        description: 'The time zone of schedules: `SCHEDULE_TIMEZONE`',
        schema: { type: 'string' },
      },
    },
    isLocal: true,
  })
  get(
    @Req() { context: { caller } }: Request,
    @Res({ passthrough: true }) response: Response,
  ): Json<OwnTokenDto> {
    if (caller === null) throw new Error('a call without a token');
    response.setHeader('X-Schedule-Timezone', this.process.configuration.SCHEDULE_TIMEZONE);
    const { name, scope, sources, expiresMs } = caller;
    return {
      name,
      scope,
      sources: sources ? [...sources.texts] : null,
      expires: expiresMs === Infinity ? null : new Date(expiresMs).toISOString(),
    };
  }
}
