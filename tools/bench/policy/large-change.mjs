// node tools/bench/policy/large-change.mjs [--size 10k] [--operations 100000] [--readers 1]
//
// One change of so many operations, as the target of a follower applies it, while threads decide batches without a
// pause: processor time in all, of the longest turn of the event loop, and of the longest step with the lock (memory is
// announced to readers before they are kept out). Times on the wall count other processes as well.
import { encodeChange, fromRow } from '@weir/config-model';
import { PolicyTarget } from '@weir/policy-feed';
import { MessageChannel, Worker } from 'node:worker_threads';
import { parseArgs } from 'node:util';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { parseHashKey } from '@weir/dns-name';
import { journalLine } from '../../../libs/change-feed/dist/disk/journal-file.js';
import { readChangesPage } from '../../../libs/change-feed/dist/protocol/read-changes.js';
import {
  entriesOf,
  makeRows,
  network6Row,
  partsOf,
  profileRow,
  SIZES,
  sizeOf,
} from './configuration.mjs';
import { memoryOf } from './memory.mjs';
import { randomNumbers } from './names.mjs';
import { NO_CATALOGUES } from './no-catalogues.mjs';
import { threadMs } from './thread-clock.mjs';

const { values } = parseArgs({
  options: {
    size: { type: 'string', default: '10k' },
    operations: { type: 'string', default: '100000' },
    readers: { type: 'string', default: '1' },
    only: { type: 'string', default: '' },
    rounds: { type: 'string', default: '1' },
    'huge-pages': { type: 'boolean', default: false },
    help: { type: 'boolean', default: false },
  },
});
const print = (line = '') => process.stdout.write(`${line}\n`);
if (values.help) {
  print(`node tools/bench/policy/large-change.mjs [--size ${Object.keys(SIZES).join('|')}]`);
  print('  [--only TEXT, that the name of a change has] [--rounds N]');
  print('  [--huge-pages]');
  print('  [--operations N, of each change] [--readers N, threads that decide meanwhile]');
  process.exit();
}
const KEY = parseHashKey('000102030405060708090a0b0c0d0e0f');
const size = sizeOf(values.size);
const count = Number(values.operations);
const readers = Number(values.readers);
const random = randomNumbers(99);
const anyProfile = () => random() % Math.max(size.profiles, 1);
const anyHash = () => random() * 2 ** 20 + (random() % 2 ** 20);
const NEW = size.profiles;

/** Rows by the name of a change: puts, and then deletes of the same. */
const CHANGES = {
  'rules of one profile': ['domainRule', () => [NEW, anyHash(), 2]],
  'rules of any profiles': ['domainRule', () => [anyProfile(), anyHash(), 2]],
  'IPv4 networks of one profile': ['ipv4Network', () => [random(), 32, NEW]],
  'IPv6 networks': ['ipv6Network', (i) => network6Row(2 ** 24 + i * 2 + 1, anyProfile())],
  'NAPT ranges': [
    'naptAssignment',
    (i) => [0x6440_0000 + (i >>> 3), (i & 7) * 8192, (i & 7) * 8192 + 8191, anyProfile()],
  ],
  profiles: ['profile', (i) => profileRow(NEW + i)],
  schedules: ['schedule', (i) => [NEW + i, anyProfile(), 1, 40, 46]],
};

async function startReader(share, reader, words) {
  const { port1, port2 } = new MessageChannel();
  const invitation = share.connect(reader, (message) => port1.postMessage(message));
  const worker = new Worker(new URL('share-reader.mjs', import.meta.url), {
    workerData: { invitation, port: port2, words, size },
    transferList: [port2],
  });
  await new Promise((resolve) => worker.once('message', resolve));
  return { worker, port1 };
}

/** Does the work; processor time of it all and of its longest turn of the event loop. */
async function watchTurns(work) {
  let isDone = false;
  let longestMs = 0;
  let turns = 0;
  const watch = async () => {
    for (let before = threadMs(); !isDone; turns++) {
      await new Promise(setImmediate);
      const now = threadMs();
      longestMs = Math.max(longestMs, now - before);
      before = now;
    }
  };
  const watching = watch();
  const startedMs = performance.now();
  const before = threadMs();
  await work();
  const cpuMs = threadMs() - before;
  const wallMs = performance.now() - startedMs;
  isDone = true;
  await watching;
  return { wallMs, cpuMs, longestMs, turns };
}

/** The longest call that has the lock, or waits for it. */
const held = { wallMs: 0, cpuMs: 0 };
function watchWrites(share) {
  for (const name of ['tryChange', 'trySwap']) {
    const original = share[name].bind(share);
    share[name] = (...args) => {
      const startedMs = performance.now();
      const before = threadMs();
      const isDone = original(...args);
      held.cpuMs = Math.max(held.cpuMs, threadMs() - before);
      held.wallMs = Math.max(held.wallMs, performance.now() - startedMs);
      return isDone;
    };
  }
}

/** So that the operations, which the benchmark has just made, are not moved while it measures. */
setFlagsFromString('--expose-gc');
const collectGarbage = runInNewContext('gc');

const target = new PolicyTarget(
  { timeZone: 'UTC', readers, memory: memoryOf(values['huge-pages']) },
  NO_CATALOGUES,
);
/** @returns {AsyncGenerator<import('@weir/change-feed').SnapshotPart>} */
async function* parts() {
  yield { type: 'head', lineage: null, revision: 1, digest: '' };
  for (const [kind, rowsOf] of entriesOf(makeRows(size, KEY))) {
    for (const rows of partsOf(rowsOf())) yield { type: 'rows', kind, rows };
  }
}
await (await target.build(parts())).swapIn();
watchWrites(target.share);
const words = new Int32Array(new SharedArrayBuffer(4 + 8 * readers));
const threads = [];
for (let i = 0; i < readers; i++) threads.push(await startReader(target.share, i, words));

const ms = (value) => value.toFixed(1).padStart(7);

/** What comes before and after: reading the answer of the feed API, and writing the line of the journal. */
async function readAndWrite(operations) {
  const [revision, digest] = [1, '0123456789abcdef'];
  const change = { revision, digest, operations };
  const page = Buffer.from(
    JSON.stringify({ head: { revision, digest }, changes: [encodeChange(change)] }),
  );
  const works = {
    'read from the feed': () => readChangesPage(page),
    'written to the journal': () => journalLine(change),
  };
  for (const [title, work] of Object.entries(works)) {
    collectGarbage();
    const { cpuMs, wallMs, longestMs, turns } = await watchTurns(work);
    print(
      `${title.padEnd(36)}${ms(cpuMs)} ms (wall ${ms(wallMs)}), longest of ${String(turns).padStart(3)} turns ${ms(longestMs)}`,
    );
  }
}

async function apply(title, operations) {
  const { revision = 0 } = target.policy ?? {};
  const change = { revision: revision + 1, digest: '', operations };
  collectGarbage();
  Object.assign(held, { wallMs: 0, cpuMs: 0 });
  words.fill(0, 1);
  const { wallMs, cpuMs, longestMs, turns } = await watchTurns(() => target.apply(change));
  print(
    `${title.padEnd(36)}${ms(cpuMs)} ms (wall ${ms(wallMs)}), longest of ${String(turns).padStart(3)} turns ${ms(longestMs)}, ` +
      `announce and switch ${held.cpuMs.toFixed(2)} (wall ${held.wallMs.toFixed(2)}); ` +
      `readers begin a batch within ${(Math.max(0, ...words.filter((_, i) => i > 0 && i % 2 === 0)) / 1000).toFixed(2)}; ` +
      `${words.filter((_, i) => i % 2 === 1).reduce((a, b) => a + b, 0)} batches; ${(process.memoryUsage.rss() / 2 ** 20).toFixed(0)} MB`,
  );
}

async function measure(title, kind, rowOf) {
  const entities = Array.from({ length: count }, (_, i) => fromRow(kind, rowOf(i)));
  if (kind === 'domainRule') {
    await readAndWrite(entities.map((entity) => ({ type: 'put', kind, entity })));
  }
  await apply(
    `put ${title}`,
    entities.map((entity) => ({ type: 'put', kind, entity })),
  );
  await apply(
    `delete ${title}`,
    entities.map((key) => ({ type: 'delete', kind, key })),
  );
}

print(`${count} operations each, size ${values.size}, ${readers} readers:`);
for (const [title, [kind, rowOf]] of Object.entries(CHANGES)) {
  if (!title.includes(values.only)) continue;
  for (let round = 0; round < Number(values.rounds); round++) await measure(title, kind, rowOf);
}
Atomics.store(words, 0, 1);
await Promise.all(threads.map(({ worker }) => new Promise((done) => worker.once('exit', done))));
for (const { port1 } of threads) port1.close();
