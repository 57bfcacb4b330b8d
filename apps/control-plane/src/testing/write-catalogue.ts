import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { onTestFinished } from 'vitest';

/** A catalogue folder with these applications and no categories, until the test ends. @returns its path. */
export async function writeCatalogue(applications: Record<number, string>): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'weir-catalogue-'));
  onTestFinished(() => rm(folder, { recursive: true }));
  const entries = Object.entries(applications).map(
    ([id, name]) =>
      `  - { id: ${id}, name: ${name}, domains: [${name.toLowerCase()}.example.com] }\n`,
  );
  const yaml = `categories: []\napplications:\n${entries.join('')}`;
  await writeFile(join(folder, 'catalogue.yaml'), yaml);
  return folder;
}
