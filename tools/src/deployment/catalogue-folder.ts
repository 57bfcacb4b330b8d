import { mkdirSync, renameSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

/** The folder with the definition of the catalogue. */
export class CatalogueFolder {
  private generation = 0;

  constructor(readonly path: string) {}

  /** Another catalogue: within seconds a control plane compiles and activates its image. */
  renew(): void {
    mkdirSync(this.path, { recursive: true });
    const file = join(this.path, 'catalogue.yaml');
    writeFileSync(`${file}.new`, definition(this.generation++));
    renameSync(`${file}.new`, file);
  }
}

/** So many that a delta is much smaller than the image. */
const NAMES = Array.from({ length: 2_000 }, (_, i) => `listed-${i}.example.net`);

/** Another one, and so another image, for each generation. */
const definition = (generation: number): string => `categories:
  - id: 12
    name: Gambling
    domains: [casino.example.com, casino-${generation}.example.com, ${NAMES.join(', ')}]
applications:
  - id: 3
    name: Video
    domains: [video.example.com]
`;
