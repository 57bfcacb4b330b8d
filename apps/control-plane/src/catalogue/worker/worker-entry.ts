import { parentPort, workerData } from 'node:worker_threads';
import { compileGroups } from './compile-groups.js';
import { loadDefinition } from './load-definition.js';
import { readSource } from './read-source.js';
import type { ThreadTask } from './worker-thread.js';

const task = workerData as ThreadTask;
if (task.kind === 'definition') {
  parentPort?.postMessage(await loadDefinition(task.input));
} else if (task.kind === 'read') {
  const outcome = await readSource(task.input);
  const { list } = outcome.status === 'read' ? outcome : {};
  const buffers = list === undefined ? [] : [list.names.buffer, list.places.buffer];
  parentPort?.postMessage(outcome, buffers as ArrayBuffer[]);
} else {
  const outcome = compileGroups(task.input);
  const transferList = outcome.status === 'compiled' ? [outcome.compiled.image.buffer] : [];
  parentPort?.postMessage(outcome, transferList);
}
