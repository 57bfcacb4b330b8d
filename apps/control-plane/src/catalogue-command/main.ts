import { runCommand } from './command.js';
import { Terminal } from './terminal.js';

// A reader such as `head` may close the pipe early.
process.stdout.on('error', (error: NodeJS.ErrnoException) => {
  if (error.code !== 'EPIPE') throw error;
  process.exit();
});

process.exitCode = await runCommand(
  process.argv.slice(2),
  process.env,
  new Terminal(process.stdout, process.stderr),
);
