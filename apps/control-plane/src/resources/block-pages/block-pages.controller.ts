import { Body, Controller, Param } from '@nestjs/common';
import { ApiEndpoint } from '../../http/routing/endpoint.js';
import type { Json } from '../../http/validation/dto.js';
import type { Listing } from '../../revisions/listing.js';
import type { WithRevision } from '../../revisions/with-revision.js';
import { BlockPageDto, BlockPagePath, PatchBlockPageDto, toDto } from './block-page.dto.js';
import { BlockPagesService } from './block-pages.service.js';

@Controller()
export class BlockPagesController {
  constructor(private readonly pages: BlockPagesService) {}

  @ApiEndpoint('GET /blockpage/', {
    isListing: true,
    summary: 'All block pages, by id',
    answer: [BlockPageDto],
  })
  list(): Promise<WithRevision<Listing<Json<BlockPageDto>>>> {
    return this.pages.list(toDto);
  }

  @ApiEndpoint('POST /blockpage/', {
    body: BlockPageDto,
    summary: 'Creates a block page',
    answer: BlockPageDto,
    errors: [409],
  })
  async create(@Body() body: BlockPageDto): Promise<WithRevision<Json<BlockPageDto>>> {
    return (await this.pages.create({ id: body.id, type: body.type })).map(toDto);
  }

  @ApiEndpoint('GET /blockpage/:page_id', {
    path: BlockPagePath,
    summary: 'One block page',
    answer: BlockPageDto,
    errors: [404],
  })
  async get(@Param() path: BlockPagePath): Promise<WithRevision<Json<BlockPageDto>>> {
    return (await this.pages.get(path.page_id)).map(toDto);
  }

  @ApiEndpoint('PATCH /blockpage/:page_id', {
    path: BlockPagePath,
    body: PatchBlockPageDto,
    repeats: { page_id: ['id'] },
    summary: 'Changes the type of a block page',
    answer: BlockPageDto,
    errors: [404],
  })
  async update(
    @Param() path: BlockPagePath,
    @Body() body: PatchBlockPageDto,
  ): Promise<WithRevision<Json<BlockPageDto>>> {
    return (await this.pages.update({ id: path.page_id, type: body.type })).map(toDto);
  }

  @ApiEndpoint('DELETE /blockpage/:page_id', {
    path: BlockPagePath,
    summary: 'Deletes a block page that no profile uses',
    errors: [404, 409],
  })
  remove(@Param() path: BlockPagePath): Promise<WithRevision<void>> {
    return this.pages.remove(path.page_id);
  }
}
