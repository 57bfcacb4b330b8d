import { runCommand } from './command.js';
import { Terminal } from './terminal.js';

process.exitCode = await runCommand(
  process.argv.slice(2),
  process.env,
  new Terminal(process.stdout, process.stderr),
);
