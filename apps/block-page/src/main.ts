import { createLogger, runMain, stopOnSignal } from '@weir/ops';
import { startBlockPage } from './block-page.js';
import { SCHEMA } from './configuration.js';

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
    const log = createLogger({ name: 'block-page', level: configuration.LOG_LEVEL });
    const starting = startBlockPage({ configuration, log });
    stopOnSignal(starting, { drainSeconds: configuration.DRAIN_S, log });
    const blockPage = await starting;
    const { port, httpsPort, opsPort } = blockPage;
    log.info({ port, httpsPort, opsPort }, 'listening; waiting for the configuration');
    await blockPage.ready;
    log.info({ port, httpsPort, opsPort }, 'ready');
  },
);
