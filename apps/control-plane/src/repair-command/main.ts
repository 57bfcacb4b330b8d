import { runRepair } from './command.js';

process.exitCode = await runRepair(process.argv.slice(2), process.env, {
  print: (line) => void process.stdout.write(`${line}\n`),
  printError: (line) => void process.stderr.write(`${line}\n`),
});
