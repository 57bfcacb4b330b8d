import { renderReference } from '@weir/ops';
import { expect, it } from 'vitest';
import { SCHEMA } from './configuration.js';

it('the configuration reference of the block page is up to date', async () => {
  const page = `# Configuration of the block page\n\n${renderReference(SCHEMA)}`;
  await expect(page).toMatchFileSnapshot('../../../docs/configuration/block-page.md');
});
