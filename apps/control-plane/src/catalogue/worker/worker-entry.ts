import { CatalogueError, readWithDigests } from '@weir/catalogue';
import { parentPort, workerData } from 'node:worker_threads';
import { compileGroups } from './compile-groups.js';
import { readSource } from './read-source.js';
import type { ThreadReply, ThreadTask } from './worker-thread.js';

function reply(message: ThreadReply, buffers: readonly ArrayBufferLike[] = []): void {
  parentPort?.postMessage(message, buffers as ArrayBuffer[]);
}

async function run(task: ThreadTask): Promise<void> {
  if (task.kind === 'definition') {
    const { location, sets } = task.input;
    reply({ result: await readWithDigests(location, sets) });
  } else if (task.kind === 'read') {
    const result = await readSource(task.input);
    const isRead = result.status === 'read';
    reply({ result }, isRead ? [result.list.names.buffer, result.list.places.buffer] : []);
  } else {
    const result = compileGroups(task.input);
    reply({ result }, [result.image.buffer]);
  }
}

try {
  await run(workerData as ThreadTask);
} catch (error) {
  // An error loses its class on its way to another thread.
  if (!(error instanceof CatalogueError)) throw error;
  reply({ problem: error.message });
}
