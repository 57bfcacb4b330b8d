import type { BlockPage } from '@weir/config-model';
import { Column } from './column.js';

export class DraftBlockPages {
  private readonly types = Column.int32();
  readonly ids = Column.int32();

  add({ id, type }: BlockPage): void {
    this.ids.push(id);
    this.types.push(type);
  }

  at(row: number): BlockPage {
    return { id: this.ids.at(row), type: this.types.at(row) };
  }
}
