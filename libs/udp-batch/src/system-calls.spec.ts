import { expect, it } from 'vitest';
import { loadSystemCalls } from './system-calls.js';

it('loads the calls once', () => {
  expect(loadSystemCalls()).toBe(loadSystemCalls());
});
