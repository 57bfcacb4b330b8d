import { parseResponse, Response } from '@weir/dns-wire';
import { wireName } from '@weir/dns-wire/testing';
import { once } from 'node:events';
import { setImmediate } from 'node:timers/promises';
import { Worker } from 'node:worker_threads';
import { afterEach, describe, expect, it } from 'vitest';
import { NameRange } from '../query/name-range.js';
import type { Question } from '../query/question.js';
import { questionOf, responseTo } from '../query/testing/questions.js';
import { a } from '../query/testing/records.js';
import { AnswerCache } from './answer-cache.js';
import { countersOf, createCacheMemory, SKIPPED_WRITES } from './cache-memory.js';
import type { CacheReport, CacheTask } from './testing/cache-worker.js';
import { problemsOf } from './testing/consistency.js';
import {
  begunAt,
  claimsAt,
  CURRENT,
  isOwn,
  NAMES,
  packetOf,
  putName,
  raiseKept,
  STOP,
  WORDS,
} from './testing/versions.js';

const PUTS = 6_000;
const MIN_HITS = 20_000;
const MIN_KEPT = 500;
const ROUNDS = 2;
const PUTS_BETWEEN_EVENTS = 50;
const PUTS_BETWEEN_FLUSHES = 50;

const ZONES = 20;

const questions = Array.from({ length: NAMES }, (_, i) =>
  questionOf(`n${i}.zone${i % ZONES}.example`, 1, { udpBytes: 1232 }),
);

const newWords = () => new Int32Array(new SharedArrayBuffer(WORDS * 4));

class CacheThread {
  readonly worker: Worker;

  constructor(task: Omit<CacheTask, 'names'>) {
    const names = questions.map(({ bytes, nameHashLow, nameHashHigh }) => {
      return { bytes, nameHashLow, nameHashHigh };
    });
    const workerData: CacheTask = { ...task, names };
    // Without the arguments of this process, which resolve packages to their sources.
    this.worker = new Worker(new URL('./testing/cache-worker.ts', import.meta.url), {
      workerData,
      execArgv: [],
    });
    threads.push(this);
  }

  async message(): Promise<unknown> {
    const [message] = (await once(this.worker, 'message')) as unknown[];
    return message;
  }
}

const threads: CacheThread[] = [];
afterEach(async () => {
  await Promise.all(threads.splice(0).map((thread) => thread.worker.terminate()));
});

/** Starts the threads 1, 2 … with these jobs. @returns a function that stops them */
async function startThreads(
  jobs: readonly CacheTask['job'][],
  task: Omit<CacheTask, 'names' | 'thread' | 'job'>,
) {
  const started = jobs.map((job, i) => new CacheThread({ ...task, job, thread: 1 + i }));
  await Promise.all(started.map((one) => one.message()));
  return async () => {
    const reports = started.map((one) => one.message());
    Atomics.store(task.words, STOP, 1);
    return (await Promise.all(reports)) as CacheReport[];
  };
}

/** A cache for this thread and others. */
function newShared(sizeBytes: number, threads: number) {
  const memory = createCacheMemory(sizeBytes, threads);
  return { memory, cache: new AnswerCache({ memory, thread: 0 }), words: newWords() };
}

/** Puts the next version of a name, as one of that many threads that do. */
function putNext(
  { cache, memory, words }: ReturnType<typeof newShared>,
  name: number,
  writers: number,
): void {
  const counts = countersOf(memory, 0);
  const { generation } = cache;
  const version = Atomics.add(words, begunAt(name), 1) + 1;
  const question = questions[name];
  const packet = packetOf(question.bytes, question.query.questionEnd, name, version);
  const response = new Response();
  if (!parseResponse(packet, packet.length, response)) throw new Error('malformed response');
  const skipped = counts[SKIPPED_WRITES];
  cache.put(question, response, 0, generation);
  const isKept = counts[SKIPPED_WRITES] === skipped && cache.generation === generation;
  if (isKept && isOwn(name, 0, writers)) raiseKept(words, name, version);
}

/** A reader that is inside for long, on a busy machine, keeps an answer from being kept. */
function putUntilKept(cache: AnswerCache, question: Question, response: Response): void {
  for (;;) {
    const skipped = cache.skippedWrites;
    cache.put(question, response, 0, cache.generation);
    if (cache.skippedWrites === skipped) return;
  }
}

/** A flush that goes on while the cache is used. When it is over, no version of before it is found any more. */
class Flush {
  private pieces: Generator<number> | null = null;
  private before = new Map<number, number>();
  private count = 0;

  constructor(
    private readonly cache: AnswerCache,
    private readonly words: Int32Array,
  ) {}

  advance(): void {
    this.pieces ??= this.begin();
    if (!this.pieces.next().done) return;
    this.pieces = null;
    for (const [name, version] of this.before) raiseKept(this.words, name, version + 1);
  }

  private begin(): Generator<number> {
    const isOfAll = ++this.count % 5 === 0;
    const zone = this.count % ZONES;
    const names = questions
      .map((_, name) => name)
      .filter((name) => isOfAll || name % ZONES === zone);
    this.before = new Map(names.map((name) => [name, Atomics.load(this.words, begunAt(name))]));
    if (isOfAll) return this.cache.flushAll();
    const name = wireName(`zone${zone}.example`);
    return this.cache.flush(new NameRange({ name, isBelowIncluded: true, hasNxDomainCut: false }));
  }
}

describe('a cache of several threads', () => {
  it.each([
    { readers: 2, writers: 1 },
    { readers: 0, writers: 2 },
    { readers: 1, writers: 3 },
  ])(
    'gives whole answers that are in force ($readers threads read, $writers read and write)',
    async ({ readers, writers }) => {
      const shared = newShared(1 << 17, writers + readers);
      const { cache, memory, words } = shared;
      const jobs = Array.from({ length: writers - 1 + readers }, (_, i) =>
        i < writers - 1 ? 'use' : 'check',
      );
      const stop = await startThreads(jobs, { memory, writers, words, nowSeconds: 0 });
      const flush = new Flush(cache, words);
      for (let put = 0; put < PUTS || cache.counters.hit < MIN_HITS; put++) {
        putNext(shared, putName((put * 7919) % NAMES, 0, writers), writers);
        if (put % PUTS_BETWEEN_FLUSHES === 0) flush.advance();
        if (put % PUTS_BETWEEN_EVENTS === 0) await setImmediate();
      }
      const reports = await stop();
      expect(reports.flatMap(({ wrong }) => wrong)).toEqual([]);
      expect(problemsOf(memory)).toEqual([]);
      expect(reports.reduce((sum, { hits }) => sum + hits, 0)).toBe(cache.counters.hit);
      expect(cache.evictions).toBeGreaterThan(0);
      expect(cache.generation).toBeGreaterThan(5);
      for (const { kept } of reports.slice(0, writers - 1)) expect(kept).toBeGreaterThan(MIN_KEPT);
    },
  );

  it('lets one of several threads begin each refresh, and no hit undoes that', async () => {
    const { cache, memory, words } = newShared(1 << 20, 3);
    const claims = () => questions.map((_, name) => words[claimsAt(name)]);
    const task = { memory, writers: 1, words, nowSeconds: 95 };
    const stop = await startThreads(['claim', 'claim'], task);
    for (let round = 1; round <= ROUNDS; round++) {
      questions.forEach((question, name) => {
        const response = responseTo(question, { answers: [a('192.0.2.1', 100)] });
        Atomics.store(words, CURRENT, name);
        putUntilKept(cache, question, response);
        while (Atomics.load(words, claimsAt(name)) < round) {
          Atomics.wait(words, claimsAt(name), round - 1, 1000);
        }
      });
      expect(claims()).toEqual(questions.map(() => round));
    }
    await stop();
    // Each round but the last ends with an answer.
    expect(cache.counters.prefetch).toBe(NAMES * (ROUNDS - 1));
  });

  it('tells when a thread has died in the middle of a write, instead of waiting for ever', () => {
    const memory = createCacheMemory(1 << 20, 1);
    const wanted = new Int32Array(memory.lock);
    let stuck = 0;
    const onStuck = () => {
      stuck++;
      wanted[0] = 0;
    };
    const cache = new AnswerCache({ memory, thread: 0, onStuck });
    wanted[0] = 1;
    cache.enter();
    cache.leave();
    expect(stuck).toBe(1);
  });

  it('goes on while a thread hangs in the middle of a lookup, and gives most writes up', async () => {
    const shared = newShared(1 << 20, 3);
    const { cache, memory, words } = shared;
    putNext(shared, 1, 1);
    const task = { memory, thread: 2, writers: 1, words, nowSeconds: 0 };
    const hanging = new CacheThread({ ...task, job: 'hang' });
    expect(await hanging.message()).toBe('ready');
    expect(await hanging.message()).toBe('inside');
    // Twice in vain: the next one would be given up without a try.
    putNext(shared, 1, 1);
    putNext(shared, 1, 1);
    expect(cache.skippedWrites).toBe(2);
    await hanging.worker.terminate();
  });
});
