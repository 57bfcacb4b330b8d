import { describe, expect, it } from 'vitest';
import { cpuBetween, parseProcessors } from './cpu.js';

describe('parseProcessors', () => {
  it('reads a list of the kernel', () => {
    expect(parseProcessors('0,2-4')).toEqual([0, 2, 3, 4]);
    expect(parseProcessors('1')).toEqual([1]);
  });
});

describe('cpuBetween', () => {
  const start = { runningMs: 100, waitingMs: 100 };
  const after = (runningMs: number, waitingMs: number) => ({
    runningMs: 100 + runningMs,
    waitingMs: 100 + waitingMs,
  });

  it('adds up the processor time of all threads', () => {
    expect(cpuBetween([start, start], [after(30, 0), after(20, 0)]).runningMs).toBe(50);
  });

  it('does not count the time that a thread waited for another thread of the process', () => {
    expect(cpuBetween([start, start], [after(30, 20), after(20, 0)]).waitingMs).toBe(0);
    expect(cpuBetween([start, start], [after(30, 25), after(20, 0)]).waitingMs).toBe(5);
    expect(cpuBetween([start, start], [after(30, 0), after(20, 37)]).waitingMs).toBe(7);
    expect(cpuBetween([start], [after(30, 4)]).waitingMs).toBe(4);
  });
});
