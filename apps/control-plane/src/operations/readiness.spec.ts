import { setTimeout as sleep } from 'node:timers/promises';
import { describe, expect, it } from 'vitest';
import { Readiness, type ReadinessOptions } from './readiness.js';

describe('Readiness', () => {
  const logged: string[] = [];
  const note = (_fields: object, message: string) => void logged.push(message);
  const of = (options: Partial<ReadinessOptions>) =>
    new Readiness({
      database: { probe: () => Promise.resolve() },
      databaseProblem: () => Promise.resolve(null),
      publisher: { connected: true },
      readSamples: () => Promise.resolve([]),
      log: { info: note, warn: note } as unknown as ReadinessOptions['log'],
      ...options,
    });

  it('queries a hanging database once for all concurrent calls', async () => {
    let asked = 0;
    let answer = (): void => undefined;
    const probe = () => {
      asked++;
      return new Promise<void>((resolve) => (answer = resolve));
    };
    const readiness = of({ database: { probe }, timeoutMs: 20 });
    for (let i = 0; i < 3; i++) {
      expect(await readiness.notReady()).toBe('PostgreSQL does not answer');
    }
    expect(asked).toBe(1);
    answer();
    await sleep(0);
    const again = readiness.notReady();
    answer();
    expect([await again, asked]).toEqual([null, 2]);
  });

  it('does not take the database for hanging when the process itself was held up', async () => {
    const probe = async () => {
      for (let turns = 0; turns < 2; turns++) await new Promise(setImmediate);
    };
    const ready = of({ database: { probe }, timeoutMs: 100 }).notReady();
    Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 300);
    expect(await ready).toBeNull();
  });

  it('reports why this process must not work with the database', async () => {
    const databaseProblem = () => Promise.resolve('another key');
    expect(await of({ databaseProblem }).notReady()).toBe('another key');
  });

  it('logs each state when it changes', async () => {
    let isOut = true;
    const probe = () => (isOut ? Promise.reject(new Error('down')) : Promise.resolve());
    const readiness = of({ database: { probe } });
    logged.length = 0;
    for (isOut of [false, true, true, false, false]) await readiness.notReady();
    expect(logged).toEqual(['not ready', 'ready']);
  });
});
