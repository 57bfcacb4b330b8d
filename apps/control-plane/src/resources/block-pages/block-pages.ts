import { Body, Controller, Injectable, Param } from '@nestjs/common';
import type { BlockPage } from '@weir/config-model';
import { conflict, notFound } from '../../http/errors/errors.js';
import { ApiEndpoint } from '../../http/routing/endpoint.js';
import type { Json } from '../../http/validation/dto.js';
import { ConfigurationReader } from '../../revisions/configuration-reader.js';
import { ConfigurationWriter } from '../../revisions/configuration-writer.js';
import type { Listing, WithRevision } from '../../revisions/with-revision.js';
import { BLOCK_PAGES, blockPagesOf, WorkingBlockPages } from './block-page-store.js';
import { BlockPageDto, BlockPagePath, PatchBlockPageDto, toDto } from './block-page.dto.js';

@Injectable()
export class BlockPagesService {
  constructor(
    private readonly reader: ConfigurationReader,
    private readonly writer: ConfigurationWriter,
  ) {}

  list<T>(convert: (page: BlockPage) => T): Promise<WithRevision<Listing<T>>> {
    return this.reader.list(BLOCK_PAGES.sql, (row: BlockPage) =>
      convert(BLOCK_PAGES.toEntity(row)),
    );
  }

  get(id: number): Promise<WithRevision<BlockPage>> {
    return this.reader.read(blockPagesOf([{ id }]), ([row]: BlockPage[]) =>
      existing(id, row && BLOCK_PAGES.toEntity(row)),
    );
  }

  create(page: BlockPage): Promise<WithRevision<BlockPage>> {
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

  update(page: BlockPage): Promise<WithRevision<BlockPage>> {
    return this.writer.write({
      need: (tables) => tables.of(WorkingBlockPages.open).need(page),
      make: (tables) => {
        const pages = tables.of(WorkingBlockPages.open);
        const before = existing(page.id, pages.find(page));
        pages.put(page);
        return { result: page, changes: [{ kind: 'blockPage', before, after: page }] };
      },
    });
  }

  remove(id: number): Promise<WithRevision<void>> {
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
  if (!page) throw notFound(`block page ${id}`);
  return page;
}

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
