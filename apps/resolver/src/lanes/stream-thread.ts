/*
 * A stream lane that is a thread. The first one is the main thread.
 */
import { workerData } from 'node:worker_threads';
import { postReport } from './answering.js';
import type { LaneTask, StreamTask } from './lane-task.js';
import { runStreamLane } from './stream-lane.js';

await runStreamLane(workerData as LaneTask & StreamTask, postReport);
