import { describe, expect, it } from 'vitest';
import { parseByteRange } from './stored-bytes.js';

describe('parseByteRange', () => {
  it.each([
    ['bytes=0-', { start: 0, end: 10 }],
    ['bytes=4-', { start: 4, end: 10 }],
    ['bytes=4-4', { start: 4, end: 5 }],
    ['bytes=4-999', { start: 4, end: 10 }],
    ['bytes=-3', { start: 7, end: 10 }],
    ['bytes=-999', { start: 0, end: 10 }],
  ])('%s of ten bytes is a part', (header, range) => {
    expect(parseByteRange(header, 10)).toEqual(range);
  });

  it.each(['bytes=10-', 'bytes=10-12', 'bytes=-0'])('%s of ten bytes is nothing', (header) => {
    expect(parseByteRange(header, 10)).toBeNull();
  });

  it.each([
    undefined,
    '',
    'bytes=',
    'bytes=-',
    'bytes=a-b',
    'bytes=5-4',
    'bytes=0-1,3-4',
    'lines=1-2',
  ])('%s asks for all of it', (header) => {
    expect(parseByteRange(header, 10)).toBeUndefined();
  });
});
