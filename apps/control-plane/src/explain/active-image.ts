import { CatalogueImage } from '@weir/catalogue';
import type { HashKey } from '@weir/dns-name';
import type { Pool } from 'pg';
import { readImage } from '../catalogue/store/catalogue-store.js';
import type { ConfigurationHead } from '../revisions/configuration-reader.js';

/** The catalogue image in force, read when it is first needed. */
export class ActiveImage {
  private loaded: { readonly of: string; readonly image: Promise<CatalogueImage> } | null = null;

  constructor(
    private readonly pool: Pool,
    private readonly key: HashKey,
  ) {}

  /** @returns null while there is no catalogue. */
  async at({ lineage, catalogueVersion }: ConfigurationHead): Promise<CatalogueImage | null> {
    if (catalogueVersion === null) return null;
    const of = `${lineage} ${catalogueVersion}`;
    if (this.loaded?.of === of) return this.loaded.image;
    const image = this.load(catalogueVersion);
    this.loaded = { of, image };
    image.catch(() => {
      if (this.loaded?.image === image) this.loaded = null;
    });
    return image;
  }

  private async load(version: number): Promise<CatalogueImage> {
    const bytes = await readImage(this.pool, version);
    if (bytes === null) throw new Error(`catalogue ${version} is active but not stored`);
    return CatalogueImage.open(bytes, this.key);
  }
}
