import type { Random } from '../deployment/random.js';
import type { Fault, MessageFaultKind, ProcessFaultKind } from './faults.js';
import type { DefectName } from './plant/plants.js';

/** To the previous release, and back again the next time. */
const RELEASE_CHANGED: ProcessFaultKind = 'release of a replica changed';
const FAULTS_OF_A_RELEASE = 6;
/** How long faults of some kinds last; others last 50 ms to 3 s. */
const DURATIONS_MS: Partial<Record<ProcessFaultKind, readonly [number, number]>> = {
  // A stop that is longer than the lease of a resolver (3 s) makes the control plane go on without it.
  'stop resolver': [300, 5_500],
  // The lease ends (3 s), and the resolver still counts in "m" of `X-Config-Applied` all the time.
  'resolver isolated': [2_000, 8_000],
};

/**
 * Endless rounds. Each round has every kind of fault once, in a random order.
 * @param hasPrevious there is a previous release: a replica is exchanged for one of it, and back again, every few
 * faults.
 */
export function* processScript(
  random: Random,
  all: readonly ProcessFaultKind[],
  hasPrevious = false,
): Generator<Fault<ProcessFaultKind>> {
  const kinds = all.filter((kind) => kind !== RELEASE_CHANGED);
  for (let n = 0; ;) {
    for (const kind of random.shuffle(kinds)) {
      if (hasPrevious && n++ % FAULTS_OF_A_RELEASE === 0) {
        yield drawProcessFault(RELEASE_CHANGED, random);
      }
      yield drawProcessFault(kind, random);
    }
  }
}

function drawProcessFault(kind: ProcessFaultKind, random: Random): Fault<ProcessFaultKind> {
  const [shortest, longest] = DURATIONS_MS[kind] ?? [50, 3_000];
  return draw(kind, random, random.integer(shortest, longest), random.integer(200, 2_500));
}

/** The same for messages. The pauses are long enough for leases to be renewed. */
export function* messageScript(
  random: Random,
  kinds: readonly MessageFaultKind[],
): Generator<Fault<MessageFaultKind>> {
  for (;;) {
    for (const kind of random.shuffle(kinds)) {
      yield draw(kind, random, random.integer(200, 2_500), random.integer(1_000, 12_000));
    }
  }
}

/** The most important faults in a fixed order; takes half a minute. Only the targets are random. */
export function shortScript(random: Random): Iterable<Fault<ProcessFaultKind>> {
  return fixedScript(random, [
    ['kill replica after commit', 300],
    ['kill resolver', 100],
    ['Redis killed and empty', 300],
    ['stop resolver', 3_500],
    ['PostgreSQL crashed', 200],
    ['stop replica', 3_500],
    ['resolver isolated', 4_000],
    ['resolver alone', 100],
    ['feed silent', 1_000],
  ]);
}

/** With its duration in milliseconds. */
type FixedFault = readonly [ProcessFaultKind, number];

/** The fault that shows a planted defect. The other defects are shown by changes without any fault. */
const SHOWN_BY: Partial<Record<DefectName, FixedFault>> = {
  'what is on the disk is put in force bit by bit': ['resolver started from its disk', 0],
  // It lags behind for longer than its lease (3 s).
  'k is as large as m': ['stop resolver', 5_500],
  'm lacks missing resolvers': ['stop resolver', 5_500],
  'messages are accepted without a signature': ['forged followers', 4_000],
};

/** No more than shows the planted defect. */
export function plantScript(random: Random, defect: DefectName): Iterable<Fault<ProcessFaultKind>> {
  const fault = SHOWN_BY[defect];
  return fixedScript(random, fault === undefined ? [] : [fault]);
}

function fixedScript(random: Random, faults: readonly FixedFault[]) {
  return faults.map(([kind, durationMs]) => draw(kind, random, durationMs, 100));
}

function draw<K>(kind: K, random: Random, durationMs: number, calmMs: number): Fault<K> {
  return { kind, target: random.integer(0, 1_000), durationMs, strength: random.next(), calmMs };
}
