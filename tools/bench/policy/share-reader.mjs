// A thread of large-change.mjs that decides.
import { CatalogueImage } from '@weir/catalogue';
import { parseHashKey, SuffixHashes } from '@weir/dns-name';
import { Decision, SharedPolicy } from '@weir/policy';
import { parentPort, receiveMessageOnPort, workerData } from 'node:worker_threads';
import { networkRow } from './configuration.mjs';
import { randomNumbers, writeName } from './names.mjs';
import { threadMs } from './thread-clock.mjs';

const BATCH = 32;
/** @type {{ words: Int32Array, [name: string]: any }} */
const { invitation, port, words, size } = workerData;
const KEY = parseHashKey('000102030405060708090a0b0c0d0e0f');
const shared = new SharedPolicy(invitation, {
  receive: () => receiveMessageOnPort(port)?.message,
  openCatalogue: (image) => CatalogueImage.open(/** @type {Uint8Array} */ (image), KEY),
});
const names = new SuffixHashes(KEY);
const random = randomNumbers(invitation.reader + 7);
/** @type {import('@weir/policy').Client} */
const client = { family: 4, words: new Uint32Array(4), port: 0 };
const name = new Uint8Array(64);
const out = new Decision();
/** Where the batches are counted; behind it, the longest time that one took to begin, in µs. */
const batches = 1 + 2 * invitation.reader;
const nowMs = Date.UTC(2026, 0, 7);

parentPort?.postMessage('ready');
while (Atomics.load(words, 0) === 0) {
  const before = threadMs();
  const policy = shared.enter();
  const enteredUs = (threadMs() - before) * 1000;
  if (enteredUs > words[batches + 1]) words[batches + 1] = enteredUs;
  for (let i = 0; i < BATCH; i++) {
    client.words[0] = networkRow(random() % size.networks, 0)[0];
    writeName(name, 0, 'r', random() % size.rules, 5);
    names.compute(name, 0);
    policy?.decide(client, names, nowMs, out);
  }
  shared.leave();
  words[batches]++;
}
port.close();
