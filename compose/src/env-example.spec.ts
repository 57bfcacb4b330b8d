import { readFileSync } from 'node:fs';
import { expect, it } from 'vitest';
import { renderEnvExample } from './env-example.js';

const { version } = JSON.parse(
  readFileSync(new URL('../../package.json', import.meta.url), 'utf8'),
) as { version: string };

it('renders the same text as .env.example', async () => {
  await expect(renderEnvExample(version)).toMatchFileSnapshot('../../.env.example');
});
