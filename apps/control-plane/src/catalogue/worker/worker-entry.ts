import { CatalogueError, readWithDigests } from '@weir/catalogue';
import { parentPort, workerData } from 'node:worker_threads';
import { compileGroups } from './compile-groups.js';
import { readSource } from './read-source.js';
import type { ThreadReply, ThreadTask } from './worker-thread.js';

function reply(message: ThreadReply, moved: readonly Uint8Array[] = []): void {
  parentPort?.postMessage(
    message,
    moved.map(({ buffer }) => buffer as ArrayBuffer),
  );
}

try {
  const { kind, input } = workerData as ThreadTask;
  if (kind === 'definition') {
    reply({ result: await readWithDigests(input.location, input.sets) });
  } else if (kind === 'read') {
    const result = await readSource(input);
    reply({ result }, result.status === 'read' ? [result.list.names, result.list.places] : []);
  } else {
    const result = compileGroups(input);
    reply({ result }, [result.image]);
  }
} catch (error) {
  // An error loses its class on its way to another thread.
  if (!(error instanceof CatalogueError)) throw error;
  reply({ problem: error.message });
}
