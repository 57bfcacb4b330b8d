import { Body, Controller, Param } from '@nestjs/common';
import type { BlockPage } from '@weir/config-model';
import { conflict, orNotFound } from '../../http/errors/errors.js';
import { type Answer, ApiEndpoint, type Listed } from '../../http/routing/endpoint.js';
import { ConfigurationReader } from '../../revisions/configuration-reader.js';
import { ConfigurationWriter } from '../../revisions/configuration-writer.js';
import { BLOCK_PAGES, blockPageOf, WorkingBlockPages } from './block-page-store.js';
import { BlockPageDto, BlockPagePath, PatchBlockPageDto } from './block-page.dto.js';

@Controller()
export class BlockPagesController {
  constructor(
    private readonly reader: ConfigurationReader,
    private readonly writer: ConfigurationWriter,
  ) {}

  @ApiEndpoint('GET /blockpage/', {
    isListing: true,
    summary: 'All block pages, by id',
    answer: [BlockPageDto],
  })
  list(): Listed<BlockPage> {
    return this.reader.list(BLOCK_PAGES.sql, (row: BlockPage) => BLOCK_PAGES.toEntity(row));
  }

  @ApiEndpoint('POST /blockpage/', {
    body: BlockPageDto,
    summary: 'Creates a block page',
    answer: BlockPageDto,
    errors: [409],
  })
  create(@Body() page: BlockPageDto): Answer<BlockPage> {
    return this.writer.write({
      need: (tables) => tables.of(WorkingBlockPages.open).need(page),
      make: (tables) => {
        const pages = tables.of(WorkingBlockPages.open);
        if (pages.find(page)) throw conflict(`block page ${page.id} already exists`);
        pages.put(page);
        return { result: page, changes: [{ kind: 'blockPage', before: null, after: page }] };
      },
    });
  }

  @ApiEndpoint('GET /blockpage/:page_id', {
    path: BlockPagePath,
    summary: 'One block page',
    answer: BlockPageDto,
    errors: [404],
  })
  get(@Param() { page_id: id }: BlockPagePath): Answer<BlockPage> {
    return this.reader.read(blockPageOf(id), ([row]: BlockPage[]) =>
      BLOCK_PAGES.toEntity(existing(id, row)),
    );
  }

  @ApiEndpoint('PATCH /blockpage/:page_id', {
    path: BlockPagePath,
    body: PatchBlockPageDto,
    repeats: { page_id: ['id'] },
    summary: 'Changes the type of a block page',
    answer: BlockPageDto,
    errors: [404],
  })
  update(
    @Param() { page_id: id }: BlockPagePath,
    @Body() { type }: PatchBlockPageDto,
  ): Answer<BlockPage> {
    const page = { id, type };
    return this.writer.write({
      need: (tables) => tables.of(WorkingBlockPages.open).need(page),
      make: (tables) => {
        const pages = tables.of(WorkingBlockPages.open);
        const before = existing(id, pages.find(page));
        pages.put(page);
        return { result: page, changes: [{ kind: 'blockPage', before, after: page }] };
      },
    });
  }

  @ApiEndpoint('DELETE /blockpage/:page_id', {
    path: BlockPagePath,
    summary: 'Deletes a block page that no profile uses',
    errors: [404, 409],
  })
  remove(@Param() { page_id: id }: BlockPagePath): Answer<void> {
    return this.writer.write({
      need: (tables) => {
        tables.of(WorkingBlockPages.open).need({ id });
        tables.of(WorkingBlockPages.open).needUser(id);
      },
      make: (tables) => {
        const pages = tables.of(WorkingBlockPages.open);
        const before = existing(id, pages.find({ id }));
        const user = pages.findUser(id);
        if (user !== null) throw conflict(`block page ${id} is used by profile ${user}`);
        pages.delete({ id });
        return { result: undefined, changes: [{ kind: 'blockPage', before, after: null }] };
      },
    });
  }
}

function existing(id: number, page: BlockPage | null | undefined): BlockPage {
  return orNotFound(page, `block page ${id}`);
}
