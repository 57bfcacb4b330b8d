/*
 * Loaded into a resolver before its program (`--import`), in each of its threads. At SIGUSR2 the thread of the name
 * STALL_THREAD (empty: the main thread) does nothing as long as the file STALL_FILE exists; it says so in a file with
 * `.stalled` behind that name. Without that file it ends with an error.
 */
import { existsSync, writeFileSync } from 'node:fs';
import { BroadcastChannel, isMainThread, threadName } from 'node:worker_threads';

const { STALL_THREAD = '', STALL_FILE = '' } = process.env;
const PAUSE_MS = 5;

const cell = new Int32Array(new SharedArrayBuffer(4));

function stall() {
  if (!existsSync(STALL_FILE)) throw new Error('a defect');
  writeFileSync(`${STALL_FILE}.stalled`, '');
  while (existsSync(STALL_FILE)) Atomics.wait(cell, 0, 0, PAUSE_MS);
}

const channel = new BroadcastChannel('stall');
channel.unref();
if (isMainThread) {
  process.on('SIGUSR2', () => {
    if (STALL_THREAD === '') stall();
    else channel.postMessage(null);
  });
}
if (!isMainThread && threadName === STALL_THREAD) channel.onmessage = stall;
