import type { Response } from '@weir/dns-wire';
import { wireName } from '@weir/dns-wire/testing';
import { once } from 'node:events';
import { setImmediate } from 'node:timers/promises';
import { Worker } from 'node:worker_threads';
import { afterEach, describe, expect, it } from 'vitest';
import { NameRange } from '../query/name-range.js';
import type { Question } from '../query/question.js';
import { questionOf, responseTo, soa } from '../query/testing/questions.js';
import { a } from '../query/testing/records.js';
import { AnswerCache } from './answer-cache.js';
import type { ReaderReport, ReaderTask } from './testing/reader-worker.js';
import {
  addressCount,
  addressOf,
  begunAt,
  claimsAt,
  CURRENT,
  isNxDomain,
  keptAt,
  NAMES,
  STOP,
  TTL,
  WORDS,
} from './testing/versions.js';

const PUTS = 6_000;
const MIN_HITS = 20_000;
const ROUNDS = 2;
const PUTS_BETWEEN_EVENTS = 50;
const PUTS_BETWEEN_FLUSHES = 50;

const ZONES = 20;

const questions = Array.from({ length: NAMES }, (_, i) =>
  questionOf(`n${i}.zone${i % ZONES}.example`, 1, { udpBytes: 1232 }),
);

const newWords = () => new Int32Array(new SharedArrayBuffer(WORDS * 4));

class ReaderThread {
  readonly worker: Worker;

  constructor(task: Omit<ReaderTask, 'names'>) {
    const names = questions.map(({ bytes, nameHashLow, nameHashHigh }) => {
      return { bytes, nameHashLow, nameHashHigh };
    });
    const workerData: ReaderTask = { ...task, names };
    // Without the arguments of this process, which resolve packages to their sources.
    this.worker = new Worker(new URL('./testing/reader-worker.ts', import.meta.url), {
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

const threads: ReaderThread[] = [];
afterEach(async () => {
  await Promise.all(threads.splice(0).map((thread) => thread.worker.terminate()));
});

/** Starts that many readers. @returns a function that stops them */
async function startReaders(
  cache: AnswerCache,
  readers: number,
  task: Omit<ReaderTask, 'names' | 'invitation'>,
) {
  const started = Array.from(
    { length: readers },
    (_, i) => new ReaderThread({ ...task, invitation: cache.connect(i) }),
  );
  await Promise.all(started.map((one) => one.message()));
  return async () => {
    const reports = started.map((one) => one.message());
    Atomics.store(task.words, STOP, 1);
    return (await Promise.all(reports)) as ReaderReport[];
  };
}

function answerOf(name: number, version: number) {
  const ttl = TTL + version;
  if (isNxDomain(version)) return { flags: 0x8183, authorities: [soa(ttl, ttl)] };
  const address = a(addressOf(name, version).join('.'), ttl);
  return { answers: Array.from({ length: addressCount(name, version) }, () => address) };
}

/** Puts the next version of a name. */
function putNext(cache: AnswerCache, words: Int32Array, name: number): void {
  const version = words[begunAt(name)] + 1;
  const question = questions[name];
  const response = responseTo(question, answerOf(name, version));
  const skipped = cache.skippedWrites;
  Atomics.store(words, begunAt(name), version);
  cache.put(question, response, 0);
  if (cache.skippedWrites === skipped) Atomics.store(words, keptAt(name), version);
}

/** A reader that is inside for long, on a busy machine, keeps an answer from being kept. */
function putUntilKept(cache: AnswerCache, question: Question, response: Response): void {
  for (;;) {
    const skipped = cache.skippedWrites;
    cache.put(question, response, 0);
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
    for (const [name, version] of this.before) {
      Atomics.store(this.words, keptAt(name), Math.max(this.words[keptAt(name)], version + 1));
    }
  }

  private begin(): Generator<number> {
    const isOfAll = ++this.count % 5 === 0;
    const zone = this.count % ZONES;
    const names = questions
      .map((_, name) => name)
      .filter((name) => isOfAll || name % ZONES === zone);
    this.before = new Map(names.map((name) => [name, this.words[begunAt(name)]]));
    if (isOfAll) return this.cache.flushAll();
    const name = wireName(`zone${zone}.example`);
    return this.cache.flush(new NameRange({ name, isBelowIncluded: true, hasNxDomainCut: false }));
  }
}

describe('SharedCache', () => {
  it.each([1, 2])('gives %i reading threads whole answers that are in force', async (readers) => {
    const cache = new AnswerCache({ sizeBytes: 1 << 17, readers });
    const words = newWords();
    const stop = await startReaders(cache, readers, { words, job: 'check', nowSeconds: 0 });
    const flush = new Flush(cache, words);
    for (let put = 0; put < PUTS || cache.counters.hit < MIN_HITS; put++) {
      putNext(cache, words, (put * 7919) % NAMES);
      if (put % PUTS_BETWEEN_FLUSHES === 0) flush.advance();
      if (put % PUTS_BETWEEN_EVENTS === 0) await setImmediate();
    }
    const reports = await stop();
    expect(reports.flatMap(({ wrong }) => wrong)).toEqual([]);
    expect(reports.reduce((sum, { hits }) => sum + hits, 0)).toBe(cache.counters.hit);
    expect(cache.evictions).toBeGreaterThan(0);
  });

  it('lets one of several threads begin each refresh, and no hit undoes that', async () => {
    const cache = new AnswerCache({ sizeBytes: 1 << 20, readers: 2 });
    const words = newWords();
    const claims = () => questions.map((_, name) => words[claimsAt(name)]);
    const stop = await startReaders(cache, 2, { words, job: 'claim', nowSeconds: 95 });
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

  it('goes on while a thread hangs in the middle of a lookup, and gives most writes up', async () => {
    const cache = new AnswerCache({ sizeBytes: 1 << 20, readers: 2 });
    const words = newWords();
    putNext(cache, words, 1);
    const task = { words, nowSeconds: 0 } as const;
    const hanging = new ReaderThread({ ...task, invitation: cache.connect(1), job: 'hang' });
    expect(await hanging.message()).toBe('ready');
    expect(await hanging.message()).toBe('inside');
    // Twice in vain: the next one would be given up without a try.
    putNext(cache, words, 1);
    putNext(cache, words, 1);
    expect(cache.skippedWrites).toBe(2);
    await hanging.worker.terminate();
  });
});
