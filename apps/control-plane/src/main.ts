import 'reflect-metadata';
import { createLogger, runMain, stopOnSignal } from '@weir/ops';
import { type ControlPlaneConfiguration, SCHEMA } from './configuration.js';
import { checkFiles, startControlPlane } from './control-plane.js';

const openLog = ({ LOG_LEVEL: level }: ControlPlaneConfiguration) =>
  createLogger({ name: 'control-plane', level });

runMain(
  {
    name: 'control-plane',
    description: 'management API, feed API and catalogue',
    schema: SCHEMA,
    packageFile: new URL('../../../package.json', import.meta.url),
    argv: process.argv.slice(2),
    environment: process.env,
  },
  async (configuration) => {
    const log = openLog(configuration);
    const starting = startControlPlane(configuration, log);
    stopOnSignal(starting, { drainSeconds: configuration.DRAIN_S, log });
    const { managementPort: port, ready } = await starting;
    if (await ready) log.info({ port }, 'control plane is up');
  },
  (configuration) => checkFiles(configuration, openLog(configuration)),
);
