import { Controller } from '@nestjs/common';
import { ApiEndpoint } from '../../http/routing/endpoint.js';
import { Example, type Json } from '../../http/validation/dto.js';
import { IsId, IsText } from '../../http/validation/rules.js';
import { ConfigurationReader } from '../../revisions/configuration-reader.js';
import type { WithRevision } from '../../revisions/with-revision.js';
import { readApplications } from './active-catalogue-reader.js';

/** An entry of the application catalogue. */
@Example<ApplicationDto>({ id: 1, name: 'YouTube' })
export class ApplicationDto {
  @IsId()
  id!: number;

  @IsText('a name', () => true, { example: 'Video' })
  name!: string;
}

@Controller()
export class ApplicationsController {
  constructor(private readonly reader: ConfigurationReader) {}

  /** The image is ordered by id. */
  @ApiEndpoint('GET /app_aware/application/', {
    summary: 'The application catalogue, by id',
    answer: [ApplicationDto],
  })
  async list(): Promise<WithRevision<Json<ApplicationDto>[]>> {
    const read = await readApplications(this.reader);
    return read.map(({ names }) => Array.from(names, ([id, name]) => ({ id, name })));
  }
}
