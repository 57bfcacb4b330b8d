/*
 * Loaded into a resolver before its program (`--import`), in each of its threads. At SIGUSR2 the thread of the name
 * STALL_THREAD (empty: the main thread) does nothing as long as the file STALL_FILE exists; it says so in a file with
 * `.stalled` behind that name. Without that file it ends with an error. With STALL_IN_CHANGE it does so in the middle
 * of the next change of the policy, while others wait for it; `end` there ends the thread at once.
 */
import { existsSync, writeFileSync } from 'node:fs';
import { BroadcastChannel, isMainThread, threadName } from 'node:worker_threads';

const { STALL_THREAD = '', STALL_FILE = '', STALL_IN_CHANGE = '' } = process.env;
const PAUSE_MS = 5;

const cell = new Int32Array(new SharedArrayBuffer(4));

function stall() {
  if (!existsSync(STALL_FILE)) throw new Error('a defect');
  writeFileSync(`${STALL_FILE}.stalled`, '');
  while (existsSync(STALL_FILE)) Atomics.wait(cell, 0, 0, PAUSE_MS);
}

/** The first word of the lock of the policy is 1 while it is changed; see libs/policy, reader-lock.ts. */
function stallInChange() {
  const { store } = Atomics;
  Atomics.store = (words, index, value) => {
    store(words, index, value);
    if (index !== 0 || value !== 1) return value;
    if (STALL_IN_CHANGE === 'end') process.exit();
    stall();
    return value;
  };
}

const channel = new BroadcastChannel('stall');
channel.unref();
if (isMainThread) {
  process.on('SIGUSR2', () => {
    if (STALL_THREAD === '') stall();
    else channel.postMessage(null);
  });
}
if (!isMainThread && threadName === STALL_THREAD) {
  channel.onmessage = STALL_IN_CHANGE === '' ? stall : stallInChange;
}
