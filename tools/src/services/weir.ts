import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { type Child, startChild } from './child.js';
import { freePort } from './ports.js';

export interface WeirOptions {
  /** The repository's root, built. */
  readonly root: string;
  /** The folder of its log. */
  readonly folder: string;
  /** Those of the process. PATH, DOMAIN_HASH_KEY, OPS_PORT and LOG_LEVEL have values here. */
  readonly variables: Readonly<Record<string, string>>;
  /** Command in front of the command. */
  readonly prefix?: readonly string[] | undefined;
}

export interface StartedWeir {
  readonly child: Child;
  /** Base URL of health and metrics. */
  readonly opsUrl: string;
  /** Waits until it is ready. @throws Error with its last lines when it exited or the time is over */
  readonly ready: (withinMs?: number) => Promise<void>;
}

/** `DOMAIN_HASH_KEY` of the processes that are started here. */
export const HASH_KEY = '000102030405060708090a0b0c0d0e0f';
const READY_DEADLINE_MS = 60_000;

/** Starts a process of Weir without waiting for it. */
export async function spawnWeir(
  app: 'control-plane' | 'resolver' | 'block-page',
  { root, folder, variables, prefix }: WeirOptions,
): Promise<StartedWeir> {
  mkdirSync(folder, { recursive: true });
  const opsPort = await freePort();
  const child = startChild({
    name: app,
    command: process.execPath,
    args: [join(root, `apps/${app}/dist/main.js`)],
    env: {
      PATH: process.env['PATH'],
      DOMAIN_HASH_KEY: HASH_KEY,
      OPS_PORT: String(opsPort),
      LOG_LEVEL: 'warn',
      ...variables,
    },
    logFile: join(folder, `${app}.log`),
    ...(prefix !== undefined && { prefix }),
  });
  const opsUrl = `http://127.0.0.1:${opsPort}`;
  const ready = (withinMs = READY_DEADLINE_MS): Promise<void> =>
    waitUntilReady(opsUrl, child, withinMs);
  return { child, opsUrl, ready };
}

async function waitUntilReady(opsUrl: string, child: Child, withinMs: number): Promise<void> {
  let hasEnded = false;
  void child.exited.then(() => {
    hasEnded = true;
  });
  const deadlineMs = performance.now() + withinMs;
  while (performance.now() < deadlineMs && !hasEnded) {
    try {
      if ((await fetch(`${opsUrl}/readyz`)).ok) return;
    } catch {
      // not listening yet
    }
    await sleep(50);
  }
  throw new Error(`${child.name} is not ready: ${child.lastLines().join('\n')}`);
}
