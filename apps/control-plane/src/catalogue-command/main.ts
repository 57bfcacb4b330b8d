import { runCommand } from './command.js';
import { Terminal } from './terminal.js';

// A reader that has seen enough, such as `head`, closes the pipe.
process.stdout.on('error', (error: NodeJS.ErrnoException) => {
  if (error.code !== 'EPIPE') throw error;
  process.exit();
});

process.exitCode = await runCommand(
  process.argv.slice(2),
  process.env,
  new Terminal(process.stdout, process.stderr),
);
