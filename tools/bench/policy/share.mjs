// node tools/bench/policy/share.mjs [--readers 1,2] [--size 10k] [--seconds 5]
//
// A shared policy: what a batch pays for the lock (processor time of one thread without a writer), and how long the
// writer takes for one change and for a swap while so many threads decide batches of 32 without a pause. Readers that
// are more than the cores are often not running while they are inside, which the writer then waits for.
import { Policy, PolicyShare, SharedPolicy } from '@weir/policy';
import { parseHashKey } from '@weir/dns-name';
import { MessageChannel, Worker } from 'node:worker_threads';
import { parseArgs } from 'node:util';
import { makeRows, partsOf, sizeOf } from './configuration.mjs';
import { randomNumbers } from './names.mjs';

const { values } = parseArgs({
  options: {
    readers: { type: 'string', default: '1,2' },
    size: { type: 'string', default: '10k' },
    seconds: { type: 'string', default: '5' },
  },
});
const KEY = parseHashKey('000102030405060708090a0b0c0d0e0f');
const NAPS = 10_000;
const CHANGES_A_SECOND = 1000;
const size = sizeOf(values.size);
const print = (line) => process.stdout.write(`${line}\n`);

function load() {
  const policy = new Policy({ timeZone: 'Europe/Berlin' });
  for (const [kind, rowsOf] of Object.entries(makeRows(size, KEY))) {
    for (const part of partsOf(rowsOf())) policy.load(kind, part);
  }
  policy.setRevision(1);
  return policy;
}

function lockCost() {
  const share = new PolicyShare(1);
  const shared = new SharedPolicy(
    share.connect(0, () => undefined),
    {},
  );
  const times = 1 << 22;
  let ns = 0;
  for (let round = 0; round < 3; round++) {
    const before = process.threadCpuUsage().user;
    for (let i = 0; i < times; i++) {
      shared.enter();
      shared.leave();
    }
    ns = ((process.threadCpuUsage().user - before) / times) * 1000;
  }
  return ns;
}

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

async function measureWriter(readers) {
  const share = new PolicyShare(readers);
  const policy = load();
  share.trySwap(policy, NAPS);
  const words = new Int32Array(new SharedArrayBuffer(4 + 8 * readers));
  const threads = await Promise.all(
    Array.from({ length: readers }, (_, i) => startReader(share, i, words)),
  );
  const random = randomNumbers(1);
  const wall = [];
  const endMs = performance.now() + Number(values.seconds) * 1000;
  const idle = new Int32Array(new SharedArrayBuffer(4));
  let failed = 0;
  while (performance.now() < endMs) {
    const entity = {
      profileId: random() % size.profiles,
      domainHash: random() * 2 ** 20 + (random() % 2 ** 20),
      verdict: 2,
    };
    const change = {
      revision: policy.revision + 1,
      digest: '',
      operations: [{ type: 'put', kind: 'domainRule', entity }],
    };
    const beforeMs = performance.now();
    if (!share.tryChange(() => policy.apply(change), NAPS)) failed++;
    wall.push((performance.now() - beforeMs) * 1000);
    Atomics.wait(idle, 0, 0, 1000 / CHANGES_A_SECOND);
  }
  const next = load();
  const beforeMs = performance.now();
  share.trySwap(next, NAPS);
  const swapMs = performance.now() - beforeMs;
  Atomics.store(words, 0, 1);
  await Promise.all(threads.map(({ worker }) => new Promise((done) => worker.once('exit', done))));
  for (const { port1 } of threads) port1.close();
  const sorted = wall.toSorted((a, b) => a - b);
  const p = (share) => sorted[Math.floor((sorted.length - 1) * share)].toFixed(1);
  print(
    `${readers} readers: ${wall.length} changes, µs each: ${p(0.5)} median, ${p(0.9)} 90 %, ${p(0.99)} 99 %, ` +
      `${p(1)} longest; ${failed} failed; a swap ${swapMs.toFixed(2)} ms; ` +
      `${words.filter((_, i) => i % 2 === 1).reduce((a, b) => a + b, 0)} batches`,
  );
}

print(`enter and leave: ${lockCost().toFixed(0)} ns a batch`);
for (const readers of values.readers.split(',')) await measureWriter(Number(readers));
