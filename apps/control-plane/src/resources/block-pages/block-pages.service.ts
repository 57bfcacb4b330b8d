import { Injectable } from '@nestjs/common';
import type { BlockPage } from '@weir/config-model';
import { conflict, notFound } from '../../http/errors/errors.js';
import { ConfigurationReader } from '../../revisions/configuration-reader.js';
import { ConfigurationWriter, type Transaction } from '../../revisions/configuration-writer.js';
import type { Listing } from '../../revisions/listing.js';
import type { WithRevision } from '../../revisions/with-revision.js';
import { BLOCK_PAGES, findBlockPage } from './block-page-store.js';

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
    return this.reader.read((tx) => requireBlockPage(tx, id));
  }

  create(page: BlockPage): Promise<WithRevision<BlockPage>> {
    return this.writer.write(async (tx) => {
      if (await findBlockPage(tx, page.id)) throw conflict(`block page ${page.id} already exists`);
      await tx.blockPage.create({ data: { id: page.id, type: page.type } });
      return { result: page, changes: [{ kind: 'blockPage', before: null, after: page }] };
    });
  }

  update(page: BlockPage): Promise<WithRevision<BlockPage>> {
    return this.writer.write(async (tx) => {
      const before = await requireBlockPage(tx, page.id);
      await tx.blockPage.update({ where: { id: page.id }, data: { type: page.type } });
      return { result: page, changes: [{ kind: 'blockPage', before, after: page }] };
    });
  }

  remove(id: number): Promise<WithRevision<void>> {
    return this.writer.write(async (tx) => {
      const before = await requireBlockPage(tx, id);
      const user = await tx.profile.findFirst({ where: { pageId: id }, orderBy: { id: 'asc' } });
      if (user) throw conflict(`block page ${id} is used by profile ${user.id}`);
      await tx.blockPage.delete({ where: { id } });
      return { result: undefined, changes: [{ kind: 'blockPage', before, after: null }] };
    });
  }
}

async function requireBlockPage(tx: Transaction, id: number): Promise<BlockPage> {
  const page = await findBlockPage(tx, id);
  if (page === null) throw notFound(`block page ${id}`);
  return page;
}
