import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';
import { readDefinition } from './definition/read-definition.js';

describe('the default catalogue', () => {
  it('is sound: twenty categories and twenty applications at least, none of them empty', async () => {
    const { categories, applications } = await readDefinition(
      fileURLToPath(new URL('../../../catalogue', import.meta.url)),
    );
    expect(categories.length).toBeGreaterThanOrEqual(20);
    expect(applications.length).toBeGreaterThanOrEqual(20);
    for (const { name, domains } of [...categories, ...applications]) {
      expect(domains.length, name).toBeGreaterThan(0);
      expect(new Set(domains).size, name).toBe(domains.length);
    }
  });
});
