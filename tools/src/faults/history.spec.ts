import { describe, expect, it } from 'vitest';
import { KeyHistory, LowerBounds } from './history.js';

describe('KeyHistory', () => {
  it('reads a sequence of answers forwards only', () => {
    const key = new KeyHistory(['up']);
    key.request(['page 1']);
    key.request(['page 2']);
    expect(key.earliest(0, 0, 'page 1')).toBe(1);
    expect(key.earliest(1, 0, 'page 2')).toBe(2);
    expect(key.earliest(2, 0, 'page 1')).toBeNull();
  });

  it('finds neither what was refused nor what was never asked for', () => {
    const key = new KeyHistory(['up']);
    key.request(['page 250'], true);
    expect(key.earliest(0, 0, 'page 250')).toBeNull();
    expect(key.earliest(0, 0, 'page 9')).toBeNull();
  });

  it('tells the probes of one version apart', () => {
    const key = new KeyHistory(['up', 'up']);
    key.request(['page 1', 'up']);
    expect(key.earliest(0, 1, 'page 1')).toBeNull();
    expect(key.earliest(1, 1, 'up')).toBe(1);
  });
});

describe('LowerBounds', () => {
  it('holds a new process to what was acknowledged, an old one to what it showed', () => {
    const [key, bounds] = [new KeyHistory(['up']), new LowerBounds()];
    bounds.noteAcknowledged(key, 3);
    bounds.noteSeen(key, 5);
    expect(bounds.minVersion(key)).toBe(5);
    bounds.restart();
    expect(bounds.minVersion(key)).toBe(3);
  });
});
