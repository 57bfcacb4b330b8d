import { Body, Controller, Delete, Get, Param, Patch, Post } from '@nestjs/common';
import { Lists } from '../../http/callers/lists.js';
import { ApiResponse, ApiRequest } from '../../http/routing/request-shape.js';
import type { Json } from '../../http/validation/json.js';
import type { Listing } from '../../revisions/listing.js';
import type { WithRevision } from '../../revisions/with-revision.js';
import { BlockPageDto, BlockPagePath, PatchBlockPageDto, toDto } from './block-page.dto.js';
import { BlockPagesService } from './block-pages.service.js';

@Controller('blockpage')
export class BlockPagesController {
  constructor(private readonly pages: BlockPagesService) {}

  @Get()
  @Lists(true)
  @ApiResponse({ summary: 'All block pages, by id', status: 200, body: [BlockPageDto] })
  list(): Promise<WithRevision<Listing<Json<BlockPageDto>>>> {
    return this.pages.list(toDto);
  }

  @Post()
  @ApiRequest({ body: BlockPageDto })
  @ApiResponse({ summary: 'Creates a block page', status: 201, body: BlockPageDto, errors: [409] })
  async create(@Body() body: BlockPageDto): Promise<WithRevision<Json<BlockPageDto>>> {
    return (await this.pages.create({ id: body.id, type: body.type })).map(toDto);
  }

  @Get(':page_id')
  @ApiRequest({ path: BlockPagePath })
  @ApiResponse({ summary: 'One block page', status: 200, body: BlockPageDto, errors: [404] })
  async get(@Param() path: BlockPagePath): Promise<WithRevision<Json<BlockPageDto>>> {
    return (await this.pages.get(path.page_id)).map(toDto);
  }

  @Patch(':page_id')
  @ApiRequest({ path: BlockPagePath, body: PatchBlockPageDto, repeats: { page_id: ['id'] } })
  @ApiResponse({
    summary: 'Changes the type of a block page',
    status: 200,
    body: BlockPageDto,
    errors: [404],
  })
  async update(
    @Param() path: BlockPagePath,
    @Body() body: PatchBlockPageDto,
  ): Promise<WithRevision<Json<BlockPageDto>>> {
    return (await this.pages.update({ id: path.page_id, type: body.type })).map(toDto);
  }

  @Delete(':page_id')
  @ApiRequest({ path: BlockPagePath })
  @ApiResponse({
    summary: 'Deletes a block page that no profile uses',
    status: 204,
    errors: [404, 409],
  })
  remove(@Param() path: BlockPagePath): Promise<WithRevision<void>> {
    return this.pages.remove(path.page_id);
  }
}
