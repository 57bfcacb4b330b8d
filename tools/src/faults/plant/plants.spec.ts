import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { expect, it } from 'vitest';
import { applyPlants, PLANTS } from './plants.js';

const plant = { file: 'a.js', find: 'a + b', replace: 'a - b' };

it('applyPlants replaces the code of each plant', () => {
  expect(applyPlants('return a + b;', [plant])).toBe('return a - b;');
});

it.each(['return a;', 'a + b; a + b;'])('applyPlants refuses code that has changed: %s', (code) => {
  expect(() => applyPlants(code, [plant])).toThrow(/a\.js has [02] times instead of once/);
});

it.each(Object.values(PLANTS))('the compiled code has the place to plant in: $file', (one) => {
  const path = fileURLToPath(new URL(`../../../../${one.file}`, import.meta.url));
  expect(() => applyPlants(readFileSync(path, 'utf8'), [one])).not.toThrow();
});
