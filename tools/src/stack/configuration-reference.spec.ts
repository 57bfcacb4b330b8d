import { renderReference } from '@weir/ops';
import { expect, it } from 'vitest';
import { STACK_SCHEMA } from './configuration.js';

it('the configuration reference of the local stack is up to date', async () => {
  const page = `# Configuration of the local stack (\`npm start\`)\n\nEvery other variable goes to the processes, which check it.\n\n${renderReference(STACK_SCHEMA)}`;
  await expect(page).toMatchFileSnapshot('../../../docs/configuration/stack.md');
});
