import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import { SweepTimer } from './sweep.js';

let isOutstanding = false;
let sweeps = 0;
let timer: SweepTimer;

beforeEach(() => {
  vi.useFakeTimers();
  isOutstanding = false;
  sweeps = 0;
  timer = new SweepTimer(() => {
    sweeps++;
    return isOutstanding;
  });
});

afterEach(() => {
  timer.stop();
  vi.useRealTimers();
});

/** @returns how often it swept in the next second */
function sweepsInASecond(): number {
  sweeps = 0;
  vi.advanceTimersByTime(1000);
  return sweeps;
}

it('sweeps soon after it begins, when the sockets were read', () => {
  vi.advanceTimersByTime(25);
  expect(sweeps).toBe(0);
  vi.advanceTimersByTime(1);
  expect(sweeps).toBe(1);
});

it('sweeps four times a second while nothing is outstanding', () => {
  vi.advanceTimersByTime(250);
  expect(sweepsInASecond()).toBe(4);
});

it('sweeps every 25 ms from the time when something is outstanding, until nothing is', () => {
  vi.advanceTimersByTime(250);
  isOutstanding = true;
  timer.wake();
  timer.wake();
  vi.advanceTimersByTime(25);
  expect(sweepsInASecond()).toBeGreaterThanOrEqual(40);
  isOutstanding = false;
  vi.advanceTimersByTime(250);
  expect(sweepsInASecond()).toBe(4);
});

it('finds by itself that something is outstanding', () => {
  vi.advanceTimersByTime(250);
  isOutstanding = true;
  vi.advanceTimersByTime(250);
  expect(sweepsInASecond()).toBeGreaterThanOrEqual(40);
});

it('stops', () => {
  isOutstanding = true;
  timer.wake();
  timer.stop();
  expect(sweepsInASecond()).toBe(0);
});
