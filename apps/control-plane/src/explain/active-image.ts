import { CatalogueImage } from '@weir/catalogue';
import type { HashKey } from '@weir/dns-name';
import type { Pool } from 'pg';
import { readImage } from '../catalogue/store/catalogue-store.js';
import type { ConfigurationHead } from '../revisions/configuration-reader.js';

/** The catalogue image in force, read when it is first needed. */
export class ActiveImage {
  private loaded: {
    readonly head: ConfigurationHead;
    readonly image: Promise<CatalogueImage>;
  } | null = null;

  constructor(
    private readonly pool: Pool,
    private readonly key: HashKey,
  ) {}

  /** @returns null while there is no catalogue. */
  async at(head: ConfigurationHead): Promise<CatalogueImage | null> {
    if (head.catalogueVersion === null) return null;
    const { loaded } = this;
    const isLoaded =
      loaded?.head.catalogueVersion === head.catalogueVersion &&
      loaded.head.lineage === head.lineage;
    if (isLoaded) return loaded.image;
    const image = this.load(head.catalogueVersion);
    this.loaded = { head, image };
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
