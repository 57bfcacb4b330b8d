import { type HashKey, SuffixHashes, SuffixTable, toWireName } from '@weir/dns-name';
import type { CategoryRewrite } from '@weir/policy';
import type { NameRewrite } from './image-format.js';

const NONE: readonly CategoryRewrite[] = [];

/** The rewrites of an image, by name. A look-up allocates nothing. */
export class RewriteTable {
  private readonly table: SuffixTable;
  private readonly rewrites: CategoryRewrite[][] = [];

  /** @param rewrites ascending by category */
  constructor(rewrites: readonly NameRewrite[], key: HashKey) {
    const hashes = new SuffixHashes(key);
    this.table = new SuffixTable(rewrites.reduce((sum, { names }) => sum + names.length, 0));
    for (const { categoryId, to, names } of rewrites) {
      const target = toWireName(to);
      for (const name of names) {
        hashes.compute(toWireName(name), 0);
        this.listOf(hashes).push({ categoryId, target });
      }
    }
  }

  find(names: SuffixHashes): readonly CategoryRewrite[] {
    if (this.rewrites.length === 0 || names.count === 0) return NONE;
    const index = this.table.get(names, names.count - 1);
    return index === SuffixTable.absent ? NONE : this.rewrites[index];
  }

  private listOf(name: SuffixHashes): CategoryRewrite[] {
    const last = name.count - 1;
    const known = this.table.get(name, last);
    if (known !== SuffixTable.absent) return this.rewrites[known];
    const list: CategoryRewrite[] = [];
    this.table.set(name, last, this.rewrites.push(list) - 1);
    return list;
  }
}
