import { Injectable } from '@nestjs/common';
import type { BlockPage } from '@weir/config-model';
import { conflict, notFound } from '../../http/errors/errors.js';
import { ConfigurationReader } from '../../revisions/configuration-reader.js';
import { ConfigurationWriter } from '../../revisions/configuration-writer.js';
import type { Listing } from '../../revisions/listing.js';
import type { WithRevision } from '../../revisions/with-revision.js';
import { BLOCK_PAGES, blockPagesOf, WorkingBlockPages } from './block-page-store.js';

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
