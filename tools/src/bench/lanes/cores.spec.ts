import { describe, expect, it } from 'vitest';
import { divideCores } from './cores.js';

describe('divideCores', () => {
  it('keeps the load generator off the processors of the server where there are enough', () => {
    expect(divideCores(4)).toEqual({ server: '0-1', load: '2-3' });
    expect(divideCores(9)).toEqual({ server: '0-3', load: '4-8' });
  });

  it('shares two or three processors', () => {
    expect(divideCores(2)).toEqual({ server: '0-1', load: '0-1' });
  });
});
