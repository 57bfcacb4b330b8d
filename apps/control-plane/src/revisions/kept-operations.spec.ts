import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { KeptOperations } from './kept-operations.js';

describe('KeptOperations', () => {
  beforeEach(() => void vi.useFakeTimers());
  afterEach(() => void vi.useRealTimers());

  it('keeps the last change for a minute', () => {
    const kept = new KeptOperations();
    const changes = [7, 8].map((revision) => ({ revision, digest: 'd', operations: '[]' }));
    kept.keep(changes[0]);
    vi.advanceTimersByTime(59_000);
    kept.keep(changes[1]);
    vi.advanceTimersByTime(59_000);
    expect(kept.last).toBe(changes[1]);
    vi.advanceTimersByTime(1_000);
    expect(kept.last).toEqual({ revision: -1, digest: '', operations: '[]' });
  });
});
