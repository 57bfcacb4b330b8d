import { renderReference } from '@weir/ops';
import { expect, it } from 'vitest';
import { SCHEMA } from './configuration.js';

it('is what the configuration reference says', async () => {
  const page = `# Configuration of the block page\n\n${renderReference(SCHEMA)}`;
  await expect(page).toMatchFileSnapshot('../../../docs/configuration/block-page.md');
});
