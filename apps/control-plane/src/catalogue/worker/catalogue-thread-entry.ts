import { parentPort, workerData } from 'node:worker_threads';
import { compileGroups, readSource } from './catalogue-tasks.js';
import type { ThreadTask } from './catalogue-thread.js';

const task = workerData as ThreadTask;
if (task.kind === 'read') {
  const outcome = await readSource(task.input);
  parentPort?.postMessage(outcome, outcome.status === 'read' ? [outcome.names.buffer] : []);
} else {
  const outcome = compileGroups(task.input);
  const moved = outcome.status === 'compiled' ? [outcome.compiled.image.buffer] : [];
  parentPort?.postMessage(outcome, moved);
}
