import { existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { type Child, startChild } from '../services/child.js';
import {
  RestartPolicy,
  SupervisedProcess,
  type SupervisedProcessOptions,
} from './supervised-process.js';

const WAIT = { timeout: 60_000, interval: 10 };
const LIVES = 'console.log("it lives"); setInterval(() => {}, 1000)';

describe('SupervisedProcess', () => {
  let folder: string;
  let reports: string[];
  let startFailed: string[];
  let children: Child[];
  const running: SupervisedProcess[] = [];

  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), 'weir-supervised-'));
    [reports, startFailed, children] = [[], [], []];
  });
  afterEach(async () => {
    await Promise.all(running.splice(0).map((one) => one.stop()));
    rmSync(folder, { recursive: true });
  });

  const run = (script: string) => {
    const child = startChild({
      command: process.execPath,
      args: ['-e', script],
      env: process.env,
      logFile: join(folder, 'example.log'),
    });
    children.push(child);
    return child;
  };
  const supervise = (script: string, options: Partial<SupervisedProcessOptions> = {}) => {
    const supervised = new SupervisedProcess({
      name: 'example',
      logFile: 'example.log',
      start: () => Promise.resolve(run(script)),
      waitUntilReady: () => Promise.resolve(),
      stop: (child) => child.stop(),
      onUnexpectedExit: (explanation) => startFailed.push(explanation),
      report: (text) => reports.push(text),
      policy: { ended: () => ({ pauseMs: 20, isFailing: false }) },
      ...options,
    });
    running.push(supervised);
    return supervised;
  };
  const kill = async () => {
    const child = children.at(-1)!;
    await vi.waitFor(() => {
      expect(child.lastLines()).toContain('it lives');
    }, WAIT);
    process.kill(child.pid, 'SIGKILL');
    await child.exited;
  };

  it('reports an exit during the first start, and does not restart the process', async () => {
    const supervised = supervise(LIVES);
    await supervised.start();
    await kill();
    await vi.waitFor(() => {
      expect(startFailed).toEqual([
        'example ended by itself (killed by SIGKILL). Its last lines (example.log):\n  it lives',
      ]);
    }, WAIT);
    expect([supervised.isUp, supervised.restarts, children.length]).toEqual([false, 0, 1]);
  });

  it('restarts a process that exited just before restarts were enabled', async () => {
    const supervised = supervise(LIVES);
    await supervised.start();
    await kill();
    await vi.waitFor(() => {
      expect(startFailed).toHaveLength(1);
    }, WAIT);
    supervised.enableRestarts();
    await vi.waitFor(() => {
      expect(supervised.isUp).toBe(true);
    }, WAIT);
    expect(supervised.restarts).toBe(1);
  });

  it('restarts the process after each exit, and reports it with the last lines of its output', async () => {
    const supervised = supervise(LIVES);
    await supervised.start();
    supervised.enableRestarts();
    for (let ends = 1; ends <= 2; ends++) {
      await kill();
      await vi.waitFor(() => {
        expect(reports).toHaveLength(2 * ends);
      }, WAIT);
      expect([supervised.isUp, supervised.restarts]).toEqual([true, ends]);
    }
    expect(reports.slice(0, 2)).toEqual([
      'example ended by itself (killed by SIGKILL); it is started again in 0.02 s. ' +
        'Its last lines (example.log):\n  it lives',
      'example is up again',
    ]);
    expect(startFailed).toEqual([]);
  });

  it('tries again when the process cannot be started, for any reason', async () => {
    let attempts = 0;
    const supervised = supervise(LIVES, {
      start: () => {
        attempts++;
        if (attempts === 2) return Promise.reject(new Error('no space\nleft'));
        return Promise.resolve(run(LIVES));
      },
    });
    await supervised.start();
    supervised.enableRestarts();
    await kill();
    await vi.waitFor(() => {
      expect(reports).toContain('example is up again');
    }, WAIT);
    expect(reports[1]).toBe(
      'example cannot be started; it is started again in 0.02 s. no space\n  left',
    );
    expect(supervised.restarts).toBe(2);
  });

  it('reports that a process keeps exiting, and goes on trying', async () => {
    const real = new RestartPolicy();
    let isBroken = false;
    const supervised = supervise(LIVES, {
      start: () => Promise.resolve(run(isBroken ? 'process.exit(3)' : LIVES)),
      policy: {
        // What the policy says, without its pauses.
        ended: (startedMs, endedMs) => ({ ...real.ended(startedMs, endedMs), pauseMs: 1 }),
      },
    });
    await supervised.start();
    supervised.enableRestarts();
    isBroken = true;
    await kill();
    const plain =
      /exit code 3\); it has ended 5 times within a minute, and is only tried every 10 s now\./;
    await vi.waitFor(() => {
      expect(reports.filter((text) => plain.test(text)).length).toBeGreaterThan(1);
    }, WAIT);
    isBroken = false;
    await vi.waitFor(() => {
      expect(supervised.isUp && children.at(-1)!.lastLines()).toEqual(['it lives']);
    }, WAIT);
  });

  it('has a process that died five times in a minute up again after the cause is gone', async () => {
    const cause = join(folder, 'cause');
    const dies = `if (require('fs').existsSync(${JSON.stringify(cause)})) process.exit(3);`;
    const supervised = supervise(`${dies} ${LIVES}`, { policy: new RestartPolicy() });
    await supervised.start();
    supervised.enableRestarts();
    await vi.waitFor(() => {
      expect(children[0].lastLines()).toContain('it lives');
    }, WAIT);
    writeFileSync(cause, '');
    await kill();
    await vi.waitFor(() => {
      expect(reports.at(-1)).toMatch(/it has ended 5 times within a minute/);
    }, WAIT);
    rmSync(cause);
    await vi.waitFor(() => {
      expect(supervised.isUp && children.at(-1)!.lastLines()).toEqual(['it lives']);
    }, WAIT);
  });

  it('stops during a delay', async () => {
    const supervised = supervise(LIVES, {
      policy: { ended: () => ({ pauseMs: 3_600_000, isFailing: true }) },
    });
    await supervised.start();
    supervised.enableRestarts();
    await kill();
    await vi.waitFor(() => {
      expect(reports).toHaveLength(1);
    }, WAIT);
    await supervised.stop();
    expect([supervised.restarts, children.length]).toEqual([0, 1]);
  });

  it('stops a process whose start is in progress', async () => {
    const gate = join(folder, 'gate');
    const supervised = supervise(LIVES, {
      start: async () => {
        const child = run(LIVES);
        await vi.waitFor(() => {
          expect(existsSync(gate)).toBe(true);
        }, WAIT);
        return child;
      },
    });
    const starting = supervised.start();
    const stopping = supervised.stop();
    writeFileSync(gate, '');
    await expect(starting).rejects.toThrow('aborted');
    await stopping;
    expect(await children[0].exited).toEqual({ signal: 'SIGTERM' });
    expect([startFailed, reports]).toEqual([[], []]);
  });
});
