import type { Key } from './key.js';
import { batchKey, ruleKey } from './rule-keys.js';
import { scheduleKey } from './schedule-key.js';
import { settingsKey } from './settings-key.js';
import { ipv4NetworkKey, ipv6NetworkKey, naptKey } from './subscriber-keys.js';

const KINDS = [
  settingsKey,
  ruleKey,
  batchKey,
  ipv4NetworkKey,
  ipv6NetworkKey,
  naptKey,
  scheduleKey,
];

/** Keys of every kind, each with its own subscribers. Every writer has `each` keys of every kind. */
export function makeKeys(writers: number, each: number): Key[][] {
  return Array.from({ length: writers }, (_, writer) =>
    Array.from({ length: each }, (_each, i) =>
      KINDS.map((makeKey) => makeKey(writer * each + i)),
    ).flat(),
  );
}
