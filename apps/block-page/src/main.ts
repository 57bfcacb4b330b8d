import { createLogger, runMain, stopOnSignal } from '@weir/ops';
import { checkFiles, startBlockPage } from './block-page.js';
import { type BlockPageConfiguration, SCHEMA } from './configuration.js';

const openLog = ({ LOG_LEVEL: level }: BlockPageConfiguration) =>
  createLogger({ name: 'block-page', level });

runMain(
  {
    name: 'block-page',
    description: 'Shows the visitors of blocked sites a page that says why.',
    schema: SCHEMA,
    packageFile: new URL('../../../package.json', import.meta.url),
    argv: process.argv.slice(2),
    environment: process.env,
  },
  async (configuration) => {
    const log = openLog(configuration);
    const starting = startBlockPage({ configuration, log });
    stopOnSignal(starting, { drainSeconds: configuration.DRAIN_S, log });
    const blockPage = await starting;
    const { port, httpsPort, opsPort } = blockPage;
    log.info({ port, httpsPort, opsPort }, 'listening; waiting for the configuration');
    await blockPage.ready;
    log.info({ port, httpsPort, opsPort }, 'ready');
  },
  (configuration) => checkFiles(configuration, openLog(configuration)),
);
