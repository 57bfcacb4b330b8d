import { runMain, StartError } from '@weir/ops';
import { fileURLToPath } from 'node:url';
import { STACK_SCHEMA } from './configuration.js';
import { Stack } from './stack.js';
import { renderWelcome } from './welcome.js';

const root = fileURLToPath(new URL('../../..', import.meta.url));
const print = (text: string): void => void process.stdout.write(`${text}\n`);

runMain(
  {
    name: 'weir',
    description: 'runs the whole of Weir on this machine',
    schema: STACK_SCHEMA,
    argv: process.argv.slice(2),
    environment: process.env,
  },
  async (configuration) => {
    const stack = new Stack({ configuration, environment: process.env, root, onProgress: print });
    const interrupted = new Promise<null>((resolve) => {
      for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) {
        process.on(signal, () => {
          resolve(null);
        });
      }
    });
    const running = stack.start().then((secrets) => {
      print(renderWelcome(configuration, secrets, stack.dataDir));
      return stack.broken;
    });
    try {
      const explanation = await Promise.race([running, interrupted]);
      if (explanation !== null) throw new StartError(explanation);
      print('\nStopping');
    } finally {
      await stack.stop();
    }
    process.exit(0);
  },
);
