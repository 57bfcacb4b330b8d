// `node main.js PATH [JSON]`: makes a call on the ops port of the process in this container, and prints the answer. The
// images have no curl, and the token stays in the container. Exit code 1 when the call fails. With `/livez` or
// `/readyz` it is the health check of the images.
import { callOwnOpsPort } from './call.js';

const [path, body] = process.argv.slice(2);
const { isDone, text } = path?.startsWith('/')
  ? await callOwnOpsPort(path, body, process.env)
  : { isDone: false, text: 'usage: PATH [JSON]' };
process.stdout.write(`${text}\n`);
if (!isDone) process.exitCode = 1;
