import { setImmediate as turn } from 'node:timers/promises';
import { describe, expect, it, vi } from 'vitest';
import { AcknowledgementPace } from './follower-link.js';

describe('AcknowledgementPace', () => {
  it('publishes once for all that one turn of the event loop puts in force, and at once', async () => {
    let inForce = 0;
    const published: number[] = [];
    const pace = new AcknowledgementPace(() => published.push(inForce));
    for (inForce = 1; inForce < 5; inForce++) {
      pace.request();
      await Promise.resolve();
    }
    await turn();
    expect(published).toEqual([5]);
    pace.request();
    await turn();
    expect(published).toEqual([5, 5]);
  });

  it('publishes a lone change at once, and further ones when the interval is over', async () => {
    const publish = vi.fn();
    const pace = new AcknowledgementPace(publish);
    pace.intervalMs = 60_000;
    pace.request();
    await turn();
    expect(publish).toHaveBeenCalledTimes(1);
    pace.request();
    pace.request();
    await turn();
    expect(publish).toHaveBeenCalledTimes(1);
    pace.stop();

    pace.intervalMs = 20;
    pace.request();
    await vi.waitFor(() => expect(publish).toHaveBeenCalledTimes(2), 60_000);
  });

  it('publishes nothing after it was stopped', async () => {
    const publish = vi.fn();
    const pace = new AcknowledgementPace(publish);
    pace.request();
    pace.stop();
    await turn();
    expect(publish).not.toHaveBeenCalled();
  });
});
