import { expect, it } from 'vitest';
import { applyPlants } from './apply-plants.js';

const plant = { file: 'a.js', find: 'a + b', replace: 'a - b' };

it('applyPlants replaces the code of each plant', () => {
  expect(applyPlants('return a + b;', [plant])).toBe('return a - b;');
});

it.each(['return a;', 'a + b; a + b;'])('applyPlants refuses code that has changed: %s', (code) => {
  expect(() => applyPlants(code, [plant])).toThrow(/a\.js has [02] times instead of once/);
});
