import 'reflect-metadata';
import { createLogger, runMain, stopOnSignal } from '@weir/ops';
import { SCHEMA } from './configuration.js';
import { startControlPlane } from './control-plane.js';

runMain(
  {
    name: 'control-plane',
    description: 'management API, feed API and catalogue',
    schema: SCHEMA,
    argv: process.argv.slice(2),
    environment: process.env,
  },
  async (configuration) => {
    const log = createLogger({ name: 'control-plane', level: configuration.LOG_LEVEL });
    const controlPlane = await startControlPlane(configuration, log);
    stopOnSignal(() => controlPlane.stop());
    log.info({ port: controlPlane.managementPort }, 'control plane is up');
  },
);
