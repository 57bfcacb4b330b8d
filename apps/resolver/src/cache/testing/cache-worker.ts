/*
 * A worker thread that looks names up in a shared cache and checks that each answer is whole, of its name, and of a
 * version that was in force. It may put answers as well. It runs the compiled resolver, as the threads of a resolver
 * do.
 */
import { parseQuery, parseResponse, Query, readUint32, Response } from '@weir/dns-wire';
import { parentPort, workerData } from 'node:worker_threads';
import type * as AnswerCaches from '../answer-cache.js';
import type * as CacheMemories from '../cache-memory.js';
import type { CacheMemory } from '../cache-memory.js';
import type * as CacheReading from '../cache-reader.js';
import type * as Versions from './versions.js';

const compiled = (file: string): string =>
  new URL(`../../../dist/cache/${file}`, import.meta.url).href;
const { AnswerCache } = (await import(compiled('answer-cache.js'))) as typeof AnswerCaches;
const { CacheResult } = (await import(compiled('cache-reader.js'))) as typeof CacheReading;
const { countersOf, SKIPPED_WRITES } = (await import(
  compiled('cache-memory.js')
)) as typeof CacheMemories;
const versions =
  // A worker thread of a test runs the source of this file, and so cannot name it `.js`.
  (await import(new URL('./versions.ts', import.meta.url).href)) as typeof Versions;
const { addressCount, addressOf, begunAt, claimsAt, CURRENT, isNxDomain, keptAt } = versions;
const { isOwn, packetOf, putName, raiseKept, STOP, TTL } = versions;

export interface AskedName {
  readonly bytes: Uint8Array;
  readonly nameHashLow: number;
  readonly nameHashHigh: number;
}

export interface CacheTask {
  readonly memory: CacheMemory;
  readonly thread: number;
  /** How many threads put answers; the first ones do. */
  readonly writers: number;
  readonly names: readonly AskedName[];
  readonly words: Int32Array;
  /**
   * check: see above. use: the same, and puts answers. claim: claims every refresh of the current name. hang: enters
   * and never leaves.
   */
  readonly job: 'check' | 'use' | 'claim' | 'hang';
  /** Time of the lookups. */
  readonly nowSeconds: number;
}

export interface CacheReport {
  readonly hits: number;
  /** Answers that were kept for sure. */
  readonly kept: number;
  readonly wrong: readonly string[];
}

const RDATA_AFTER_TTL = 6;
/** Questions of this thread that wait for their answers. */
const IN_FLIGHT = 16;

const { memory, thread, writers, names, words, job, nowSeconds } = workerData as CacheTask;
const cache = new AnswerCache({ memory, thread });
const counts = countersOf(memory, thread);
const questions = names.map((name) => {
  const query = new Query();
  parseQuery(name.bytes, name.bytes.length, query);
  return { ...name, query };
});
const wrong: string[] = [];
let hits = 0;
let kept = 0;
let random = thread + 1;

function below(limit: number): number {
  random = (Math.imul(random, 1_103_515_245) + 12_345) >>> 0;
  return Math.floor((random / 2 ** 32) * limit);
}

function isEqual(bytes: Uint8Array, at: number, expected: ArrayLike<number>): boolean {
  for (let i = 0; i < expected.length; i++) if (bytes[at + i] !== expected[i]) return false;
  return true;
}

/** @returns what is wrong, or '' */
function problemOf(name: number, oldest: number, response: Response): string {
  const { bytes, ttlOffsets, ttlCount, answerCount } = response;
  const version = readUint32(bytes, ttlOffsets[0]) - TTL;
  const begun = Atomics.load(words, begunAt(name));
  if (version < oldest || version > begun) return `version ${version}, not ${oldest} … ${begun}`;
  const count = isNxDomain(version) ? 0 : addressCount(name, version);
  if (answerCount !== count) return `${answerCount} addresses of version ${version}`;
  if ((response.rcode === 3) !== isNxDomain(version)) return `RCODE of version ${version}`;
  const asked = questions[name];
  const question = asked.bytes.subarray(12, asked.query.questionEnd);
  if (!isEqual(bytes, 12, question)) return 'another question';
  const address = addressOf(name, version);
  for (let i = 0; i < ttlCount; i++) {
    if (readUint32(bytes, ttlOffsets[i]) !== TTL + version) return `a TTL of version ${version}`;
    if (i < count && !isEqual(bytes, ttlOffsets[i] + RDATA_AFTER_TTL, address))
      return `an address of version ${version}`;
  }
  return '';
}

function lookUp<T>(look: () => T): T {
  cache.enter();
  try {
    return look();
  } finally {
    cache.leave();
  }
}

function check(name: number): void {
  const oldest = Atomics.load(words, keptAt(name));
  const question = questions[name];
  const response = lookUp(() =>
    cache.find(question, nowSeconds) === CacheResult.fresh
      ? cache.read(question.query).response
      : null,
  );
  if (response === null) return;
  hits++;
  const problem = problemOf(name, oldest, response);
  if (problem !== '' && wrong.length < 10) wrong.push(`name ${name}: ${problem}`);
}

interface Pending {
  readonly name: number;
  readonly version: number;
  readonly generation: number;
}

const pending: Pending[] = [];
const response = new Response();

function ask(): void {
  const name = putName(below(questions.length), thread, writers);
  // In this order: a flush that finds the version as begun then refuses its answer.
  const { generation } = cache;
  const version = Atomics.add(words, begunAt(name), 1) + 1;
  pending.push({ name, version, generation });
}

function answer({ name, version, generation }: Pending): void {
  const question = questions[name];
  const packet = packetOf(question.bytes, question.query.questionEnd, name, version);
  if (!parseResponse(packet, packet.length, response)) throw new Error('malformed response');
  const skipped = counts[SKIPPED_WRITES];
  cache.put(question, response, 0, generation);
  if (counts[SKIPPED_WRITES] !== skipped || cache.generation !== generation) return;
  kept++;
  if (isOwn(name, thread, writers)) raiseKept(words, name, version);
}

function use(): void {
  check(below(questions.length));
  ask();
  if (pending.length > IN_FLIGHT) answer(pending.shift()!);
}

function claim(name: number): void {
  const isClaimed = lookUp(
    () => cache.find(questions[name], nowSeconds) === CacheResult.expiring && cache.beginRefresh(),
  );
  if (!isClaimed) return;
  Atomics.add(words, claimsAt(name), 1);
  Atomics.notify(words, claimsAt(name));
}

parentPort?.postMessage('ready');
while (Atomics.load(words, STOP) === 0) {
  if (job === 'hang') {
    cache.enter();
    parentPort?.postMessage('inside');
    for (;;) below(1);
  }
  if (job === 'check') check(below(questions.length));
  else if (job === 'use') use();
  else claim(Atomics.load(words, CURRENT));
}
parentPort?.postMessage({ hits, kept, wrong } satisfies CacheReport);
