/*
 * A worker thread that looks names up in a shared cache and checks that each answer is whole, of its name, and of a
 * version that was in force. It runs the compiled resolver, as the threads of a resolver do.
 */
import { parseQuery, Query, readUint32, type Response } from '@weir/dns-wire';
import { parentPort, workerData } from 'node:worker_threads';
import type { CacheInvitation } from '../cache-memory.js';
import type * as CacheReading from '../cache-reader.js';
import type * as SharedCaches from '../cache-reader.js';
import type * as Versions from './versions.js';

const compiled = (file: string): string =>
  new URL(`../../../dist/cache/${file}`, import.meta.url).href;
const { SharedCache } = (await import(compiled('cache-reader.js'))) as typeof SharedCaches;
const { CacheResult } = (await import(compiled('cache-reader.js'))) as typeof CacheReading;
const { addressCount, addressOf, begunAt, claimsAt, CURRENT, isNxDomain, keptAt, STOP, TTL } =
  // A worker thread of a test runs the source of this file, and so cannot name it `.js`.
  (await import(new URL('./versions.ts', import.meta.url).href)) as typeof Versions;

export interface AskedName {
  readonly bytes: Uint8Array;
  readonly nameHashLow: number;
  readonly nameHashHigh: number;
}

export interface ReaderTask {
  readonly invitation: CacheInvitation;
  readonly names: readonly AskedName[];
  readonly words: Int32Array;
  /** check: see above. claim: claims every refresh of the current name. hang: enters and never leaves. */
  readonly job: 'check' | 'claim' | 'hang';
  /** Time of the lookups. */
  readonly nowSeconds: number;
}

export interface ReaderReport {
  readonly hits: number;
  readonly wrong: readonly string[];
}

const RDATA_AFTER_TTL = 6;

const { invitation, names, words, job, nowSeconds } = workerData as ReaderTask;
const cache = new SharedCache(invitation);
const questions = names.map((name) => {
  const query = new Query();
  parseQuery(name.bytes, name.bytes.length, query);
  return { ...name, query };
});
const wrong: string[] = [];
let hits = 0;
let random = invitation.reader + 1;

function below(limit: number): number {
  random = (Math.imul(random, 1_103_515_245) + 12_345) >>> 0;
  return Math.floor((random / 2 ** 32) * limit);
}

function isEqual(bytes: Uint8Array, at: number, expected: ArrayLike<number>): boolean {
  for (let i = 0; i < expected.length; i++) if (bytes[at + i] !== expected[i]) return false;
  return true;
}

/** @returns what is wrong, or '' */
function problemOf(name: number, kept: number, response: Response): string {
  const { bytes, ttlOffsets, ttlCount, answerCount } = response;
  const version = readUint32(bytes, ttlOffsets[0]) - TTL;
  const begun = Atomics.load(words, begunAt(name));
  if (version < kept || version > begun) return `version ${version}, not ${kept} … ${begun}`;
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
  const kept = Atomics.load(words, keptAt(name));
  const question = questions[name];
  const response = lookUp(() =>
    cache.find(question, nowSeconds) === CacheResult.fresh ? cache.read(question.query) : null,
  );
  if (response === null) return;
  hits++;
  const problem = problemOf(name, kept, response);
  if (problem !== '' && wrong.length < 10) wrong.push(`name ${name}: ${problem}`);
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
  else claim(Atomics.load(words, CURRENT));
}
parentPort?.postMessage({ hits, wrong } satisfies ReaderReport);
