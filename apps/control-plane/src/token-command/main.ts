import { runCommand } from './command.js';

const { text, code } = runCommand(process.argv.slice(2));
(code === 0 ? process.stdout : process.stderr).write(text);
process.exitCode = code;
