/** The attacker: makes one attack until it is told to stop, then tells what it got. */
import { setTimeout as sleep } from 'node:timers/promises';
import { helperArgument, tellMain } from '../shared/helper-side.js';
import type { Target } from '../shared/target.js';
import { Counts } from './attack.js';
import { ATTACKS, OTHER_LOADS } from './index.js';

/** Which attack, on what. */
export interface AttackOrder {
  readonly name: string;
  readonly target: Target;
}

/** Answers that are on their way when the attack ends still count. */
const LATE_MS = 100;

const { name, target } = helperArgument() as AttackOrder;
const attack = [...ATTACKS, ...OTHER_LOADS].find((one) => one.name === name);
if (attack === undefined) throw new RangeError(`there is no attack ${name}`);
const over = new AbortController();
const counts = new Counts();
process.on('message', () => over.abort());
tellMain('ready');
await attack.run({ target, counts, signal: over.signal });
if (!over.signal.aborted)
  await new Promise((resolve) => over.signal.addEventListener('abort', resolve));
await sleep(LATE_MS);
tellMain(counts.toObject());
