import { renderReference } from '@weir/ops';
import { expect, it } from 'vitest';
import { SCHEMA } from './configuration.js';

it('matches the generated configuration reference', async () => {
  const page = `# Configuration of the resolver\n\n${renderReference(SCHEMA)}`;
  await expect(page).toMatchFileSnapshot('../../../docs/configuration/resolver.md');
});
