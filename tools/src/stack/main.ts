import { runMain } from '@weir/ops';
import { print } from '../command.js';
import { STACK_SCHEMA } from './configuration.js';
import { Stack } from './stack.js';
import { isSystemdJournal, renderWelcome } from './welcome.js';

runMain(
  {
    name: 'weir',
    description: 'runs all of Weir on this machine',
    schema: STACK_SCHEMA,
    packageFile: new URL('../../../package.json', import.meta.url),
    argv: process.argv.slice(2),
    environment: process.env,
  },
  async (configuration) => {
    const stack = new Stack(configuration);
    const interrupted = new Promise<void>((resolve) => {
      for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP']) process.on(signal, () => resolve());
    });
    const started = stack.start().then(async (secrets) => {
      const isLogged = isSystemdJournal(process.env['JOURNAL_STREAM']);
      const degraded = await stack.degraded();
      print(renderWelcome(configuration, secrets, stack.dataDir, { isLogged, degraded }));
    });
    try {
      await Promise.race([started, interrupted]);
      await interrupted;
      print('\nStopping');
    } finally {
      await stack.stop();
    }
    process.exit(0);
  },
  (configuration) => new Stack(configuration).check(),
);
