import { describe, expect, it } from 'vitest';
import { UpstreamHealth } from './upstream.js';

const SILENCE_MS = 250;

/** Times of all probes from `fromMs` to before `toMs`, none of which is answered. */
function probesOf(health: UpstreamHealth, fromMs: number, toMs: number): number[] {
  const probes: number[] = [];
  for (let nowMs = fromMs; nowMs < toMs; nowMs += 25) {
    if (health.isProbeDue(nowMs)) probes.push(nowMs);
  }
  return probes;
}

/** An upstream that has answered at 0. */
function answering(): UpstreamHealth {
  const health = new UpstreamHealth(SILENCE_MS);
  health.recordAnswer(0);
  return health;
}

describe('UpstreamHealth', () => {
  it('probes at the start, and is down after three probes without an answer', () => {
    const health = new UpstreamHealth(SILENCE_MS);
    expect(probesOf(health, 0, 750)).toEqual([0, 250, 500]);
    expect(health).toMatchObject({ isSound: false, isDown: false });
    expect(probesOf(health, 750, 5_000)).toEqual([750, 2_750, 4_750]);
    expect(health.isDown).toBe(true);
  });

  it('probes every five seconds when there is no answer to anything else', () => {
    const health = answering();
    expect(probesOf(health, 25, 5_025)).toEqual([5_000]);
    health.recordAnswer(5_025);
    expect(probesOf(health, 5_025, 10_050)).toEqual([10_025]);
    health.recordAnswer(10_050);
    for (let nowMs = 10_050; nowMs < 30_000; nowMs += 1_000) {
      health.recordQuery(nowMs);
      health.recordAnswer(nowMs + 100);
      expect(probesOf(health, nowMs + 100, nowMs + 1_000)).toEqual([]);
    }
  });

  it('probes when queries have no answer, and takes nothing else from that', () => {
    const health = answering();
    health.recordQuery(1_000);
    health.recordQuery(1_100);
    expect(probesOf(health, 1_000, 1_300)).toEqual([1_250]);
    expect(health.isSound).toBe(true);
    health.recordAnswer(1_300);
    for (let i = 0; i < 1_000; i++) health.recordQuery(1_310);
    expect(probesOf(health, 1_310, 1_600)).toEqual([1_560]);
    health.recordAnswer(1_600);
    expect(health.isSound).toBe(true);
  });

  it('does not probe for a query without an answer while others are answered', () => {
    const health = answering();
    for (let nowMs = 0; nowMs < 10_000; nowMs += 100) {
      health.recordQuery(nowMs);
      health.recordQuery(nowMs);
      health.recordAnswer(nowMs + 50);
      expect(probesOf(health, nowMs, nowMs + 100)).toEqual([]);
    }
  });

  it('is up again after any answer', () => {
    const health = answering();
    health.recordQuery(1_000);
    probesOf(health, 1_000, 3_000);
    expect(health.isDown).toBe(true);
    health.recordAnswer(3_000);
    expect(health).toMatchObject({ isSound: true, isDown: false });
    expect(probesOf(health, 3_000, 8_000)).toEqual([]);
  });

  it('is down at once when it cannot be reached three times, and then probed', () => {
    const health = answering();
    for (let i = 0; i < 3; i++) health.recordUnreachable();
    expect(health.isDown).toBe(true);
    expect(probesOf(health, 100, 4_200)).toEqual([100, 2_100, 4_100]);
  });
});
