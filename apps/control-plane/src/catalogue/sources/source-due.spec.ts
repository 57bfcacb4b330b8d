import type { SourceDefinition } from '@weir/catalogue';
import { describe, expect, it } from 'vitest';
import type { SourceState } from '../store/source-store.js';
import { isDue, readWith } from './source-refresh.js';

const HOUR_MS = 3_600_000;

const source = (refreshMs: number | null): SourceDefinition => ({
  name: 'list',
  location: { url: 'https://lists.example/list' },
  mirrors: [],
  format: 'domains',
  list: null,
  sha256: null,
  refreshMs,
  licence: null,
  commercialUse: null,
  size: null,
  declaredAt: 'catalogue.yaml:1',
});
const state = (agoMs: number, failures = 0): SourceState => ({
  name: 'list',
  format: 'domains',
  etag: null,
  lastModified: null,
  secondsSinceAttempt: agoMs / 1000,
  secondsSinceSuccess: null,
  lastSuccessAt: null,
  lastError: null,
  mirror: null,
  failures,
  domainCount: 1,
  invalidCount: 0,
  namesSha256: null,
  namesBytes: 0,
  placesBytes: 0,
  protectedCount: 0,
  protectedBytes: 0,
  readWith: '',
  isNamed: true,
});

describe('isDue', () => {
  it('is true for a source that was never requested', () => {
    expect(isDue(source(HOUR_MS), undefined, [])).toBe(true);
  });

  it('is true when the interval of a URL is over', () => {
    expect(isDue(source(HOUR_MS), state(HOUR_MS - 1), [])).toBe(false);
    expect(isDue(source(HOUR_MS), state(HOUR_MS), [])).toBe(true);
  });

  it('is true after a clock that was ahead was set right', () => {
    expect(isDue(source(HOUR_MS), state(-1_000 * HOUR_MS), [])).toBe(true);
    expect(isDue(source(HOUR_MS), state(-1_000 * HOUR_MS, 7), [])).toBe(true);
  });

  it('is true each time for a URL without an interval, but 30 s after a failure', () => {
    expect(isDue(source(null), state(0), [])).toBe(true);
    expect(isDue(source(null), state(29_999, 9), [])).toBe(false);
    expect(isDue(source(null), state(30_000, 9), [])).toBe(true);
  });

  it('is true when the last list was read in another format', () => {
    const other = { ...state(0), format: 'hosts' } as const;
    expect(isDue(source(HOUR_MS), other, [])).toBe(true);
  });

  it.each([
    [1, 30_000],
    [2, 60_000],
    [5, 480_000],
    [20, HOUR_MS],
    [2_000, HOUR_MS],
  ])('after %d failures it is true after %d ms', (failures, pauseMs) => {
    const daily = source(24 * HOUR_MS);
    expect(isDue(daily, state(pauseMs - 1, failures), [])).toBe(false);
    expect(isDue(daily, state(pauseMs, failures), [])).toBe(true);
  });

  it('never waits longer after a failure than after a success', () => {
    expect(isDue(source(10_000), state(10_000, 4), [])).toBe(true);
  });

  it('is true when the list was compared with another never_block, and false once it is not', () => {
    const before = state(0);
    expect(isDue(source(HOUR_MS), before, ['a.example'])).toBe(true);
    const compared = { ...before, readWith: readWith(source(HOUR_MS), ['a.example', 'b.example']) };
    expect(isDue(source(HOUR_MS), compared, ['b.example', 'a.example'])).toBe(false);
    expect(isDue(source(HOUR_MS), compared, [])).toBe(true);
  });

  it('is true for a pinned list until it was read, and again for another digest', () => {
    const pinned = { ...source(HOUR_MS), sha256: 'ab'.repeat(32) };
    expect(isDue(pinned, state(0), [])).toBe(true);
    const read = { ...state(1000 * HOUR_MS), readWith: readWith(pinned, []) };
    expect(isDue(pinned, read, [])).toBe(false);
    expect(isDue({ ...pinned, sha256: 'cd'.repeat(32) }, read, [])).toBe(true);
  });
});
