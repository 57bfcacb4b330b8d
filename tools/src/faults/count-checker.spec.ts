import { describe, expect, it } from 'vitest';
import { CountChecker, type ProcessTimes } from './count-checker.js';

const NOW_MS = 100_000;

/** A process that was started at this time, and never stopped. */
const startedAt = (ms: number): ProcessTimes => ({
  pausedAtMs: null,
  upForMs: (nowMs) => nowMs - ms,
  aliveForMs: (nowMs) => nowMs - ms,
});

describe('CountChecker', () => {
  let nowMs = NOW_MS;
  const checkerOf = (...startedMs: number[]) => checkerWith([startedAt(0)], startedMs);
  const checkerWith = (replicas: ProcessTimes[], startedMs: number[]) => {
    nowMs = NOW_MS;
    const processes = { replicas, resolvers: startedMs.map(startedAt) };
    return new CountChecker(processes, () => nowMs);
  };
  const reply = (applied: number, total: number) => {
    return { applied, total, sentMs: NOW_MS, replica: 0 };
  };

  it('calls a resolver that is up and not in k late', () => {
    expect(checkerOf(0, 0, 0).judge(reply(2, 3)).isLateWhileUndisturbed).toBe(true);
    expect(checkerOf(0, 0, 0).judge(reply(3, 3)).isLateWhileUndisturbed).toBe(false);
  });

  it('knows in the first seconds of a run who must have a change', () => {
    const checker = checkerOf(0, 0);
    nowMs = 6_000;
    expect(checker.judge({ ...reply(2, 2), sentMs: nowMs }).having).toEqual([0, 1]);
  });

  it('finds a total that counts a resolver again that was killed and is back', () => {
    const isBack = checkerOf(0, 0, NOW_MS - 10_000).judge(reply(3, 4));
    expect(isBack.violation).toContain('back under their names');
    expect(isBack.having).toEqual([0, 1, 2]);
    const isStarting = checkerOf(0, 0, NOW_MS - 1_000).judge(reply(3, 4));
    expect(isStarting).toMatchObject({ violation: null, isLateWhileUndisturbed: false });
  });

  it('calls nobody late while a fault explains it, and for some seconds afterwards', () => {
    for (const kind of ['leases', 'database'] as const) {
      const checker = checkerOf(0, 0, 0);
      const end = checker[kind].begin();
      expect(checker.judge(reply(2, 3)).isLateWhileUndisturbed).toBe(false);
      end();
      expect(checker.judge(reply(2, 3)).isLateWhileUndisturbed).toBe(false);
      nowMs += 6_000;
      const later = { ...reply(2, 3), sentMs: nowMs };
      expect(checker.judge(later).isLateWhileUndisturbed).toBe(true);
    }
  });

  it('finds a total that leaves a resolver out that is up, or that was up until its isolation', () => {
    expect(checkerOf(0, 0, 0).judge(reply(2, 2)).violation).toContain('3 resolvers were live');
    const checker = checkerOf(0, 0, 0);
    checker.isolate(1);
    nowMs += 4_000;
    const during = { applied: 2, total: 2, sentMs: nowMs, replica: 0 };
    expect(checker.judge(during).violation).toContain('3 resolvers were live or missing');
    expect(checker.judge({ ...during, applied: 3, total: 3 }).violation).toContain('unreachable');
    expect(checker.judge({ ...during, total: 3 }).violation).toBeNull();
  });

  it('expects a control plane that has just started to count an isolated resolver, if Redis lost nothing', () => {
    const checker = checkerWith([startedAt(NOW_MS + 9_000)], [0, 0, 0]);
    checker.isolate(1);
    nowMs += 10_000;
    const during = { applied: 2, total: 2, sentMs: nowMs, replica: 0 };
    expect(checker.judge(during).violation).toContain('3 resolvers were live or missing');
    checker.leases.begin();
    expect(checker.judge(during).violation).toBeNull();
  });
});
