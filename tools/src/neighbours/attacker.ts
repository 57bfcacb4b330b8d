/** The attacker: makes one attack until it is told to stop, then tells what it got. */
import { setTimeout as sleep } from 'node:timers/promises';
import { ATTACKS } from './attacks.js';
import { helperArgument, tellMain } from '../services/helper.js';
import type { Target } from './target.js';

/** Which attack, on what. */
export interface AttackOrder {
  readonly name: string;
  readonly target: Target;
}

/** Answers that are on their way when the attack ends still count. */
const LATE_MS = 100;

const { name, target } = helperArgument() as AttackOrder;
const [, run] = ATTACKS[name];
const over = new AbortController();
const counts: Record<string, number> = {};
const count = (what: string, times = 1): void => {
  counts[what] = (counts[what] ?? 0) + times;
};
process.on('message', () => over.abort());
tellMain('ready');
await run({ target, count, signal: over.signal });
await sleep(LATE_MS);
tellMain(counts);
