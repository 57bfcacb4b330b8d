import { describe, expect, it } from 'vitest';
import { KeyHistory, LowerBounds } from './history.js';

describe('KeyHistory', () => {
  it('accepts a sequence of answers only in the order of the versions', () => {
    const key = new KeyHistory(['up']);
    key.request(['page 1']);
    key.request(['page 2']);
    expect(key.earliest(0, 0, 'page 1')).toBe(1);
    expect(key.earliest(1, 0, 'page 2')).toBe(2);
    expect(key.earliest(2, 0, 'page 1')).toBeNull();
  });

  it('finds no version that was refused or never requested', () => {
    const key = new KeyHistory(['up']);
    key.request(['page 250'], true);
    expect(key.earliest(0, 0, 'page 250')).toBeNull();
    expect(key.earliest(0, 0, 'page 9')).toBeNull();
  });

  it('distinguishes the probes of one version', () => {
    const key = new KeyHistory(['up', 'up']);
    key.request(['page 1', 'up']);
    expect(key.earliest(0, 1, 'page 1')).toBeNull();
    expect(key.earliest(1, 1, 'up')).toBe(1);
  });
});

describe('LowerBounds', () => {
  it('bind a restarted process to what was acknowledged, and a running one to what it showed too', () => {
    const [key, bounds] = [new KeyHistory(['up']), new LowerBounds()];
    bounds.noteAcknowledged(key, 3);
    bounds.noteSeen(key, 5);
    expect(bounds.minVersion(key)).toBe(5);
    bounds.restart();
    expect(bounds.minVersion(key)).toBe(3);
  });
});
