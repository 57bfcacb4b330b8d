import { run } from './run.js';
import { Terminal } from './terminal.js';

const SIGNALS = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const;

function interrupted(): AbortSignal {
  const controller = new AbortController();
  for (const signal of SIGNALS) process.once(signal, () => controller.abort(signal));
  return controller.signal;
}

// `weir changes | head` ends when head does.
process.stdout.on('error', (error: NodeJS.ErrnoException) => {
  if (error.code === 'EPIPE') process.exit(0);
  process.stderr.write(`weir: ${error.message}\n`);
  process.exit(1);
});
process.exitCode = await run(process.argv.slice(2), {
  environment: process.env,
  terminal: new Terminal(process.stdout, process.stderr),
  input: process.stdin,
  interrupted,
});
