// A process for the tests. It runs the compiled code; its variables set what it does.
import { setTimeout as sleep } from 'node:timers/promises';
import {
  boolean,
  createLogger,
  integer,
  OPS_VARIABLES,
  runMain,
  stopOnSignal,
} from '../../dist/index.js';

const SCHEMA = {
  ...OPS_VARIABLES,
  START_MS: integer(0, 60_000, { description: 'How long it takes to start.', default: '0' }),
  STOP_MS: integer(0, 60_000, { description: 'How long it takes to stop.', default: '0' }),
  WAITS_FOR_START: boolean({ description: 'Whether it completes its start.', default: 'false' }),
  DEADLINE_MS: integer(0, 60_000, { description: 'How long it may take.', default: '60000' }),
};

async function start(ms, log) {
  // After this the signal handlers are installed.
  await sleep(0);
  log.info({}, 'starting');
  await sleep(ms);
}

runMain(
  {
    name: 'example',
    description: 'an example',
    schema: SCHEMA,
    packageFile: new URL('../../../../package.json', import.meta.url),
    argv: process.argv.slice(2),
    environment: process.env,
  },
  async ({ START_MS, STOP_MS, DRAIN_S, DEADLINE_MS, WAITS_FOR_START }) => {
    const log = createLogger({ name: 'example', level: 'info' });
    const say = (message) => log.info({ atMs: performance.now() }, message);
    const alive = setInterval(() => undefined, 1_000);
    const service = {
      drain: () => say('draining'),
      stop: async () => {
        say('stop');
        await sleep(STOP_MS);
        clearInterval(alive);
      },
    };
    const starting = start(START_MS, log).then(() => service);
    stopOnSignal(starting, {
      ...{ drainSeconds: DRAIN_S, log },
      ...{ deadlineMs: DEADLINE_MS, waitsForStart: WAITS_FOR_START },
    });
    await starting;
    log.info({}, 'up');
  },
);
