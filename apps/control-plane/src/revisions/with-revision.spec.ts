import { expect, it } from 'vitest';
import { ReadingPace } from './with-revision.js';

it('counts the time for which the client is waited for, less what its bytes may take', () => {
  const pace = new ReadingPace();
  expect(pace.behindMs(1_000)).toBe(0);
  pace.wait(12_500, 1_000);
  expect(pace.behindMs(1_300)).toBe(300);
  pace.resume(1_300);
  // The database takes its time.
  expect(pace.behindMs(9_000)).toBe(300);
  pace.wait(12_500, 9_000);
  expect(pace.behindMs(9_050)).toBe(250);
});

it('allows no extra time for bytes that were read before', () => {
  const pace = new ReadingPace();
  pace.wait(1_000_000, 0);
  pace.resume(0);
  pace.wait(1_000_000, 0);
  expect(pace.behindMs(500)).toBe(500);
});
