// A process for the tests that logs many lines at once. Its arguments: how many, and what it does then.
import { createLogger } from '../../dist/index.js';

const [count, then] = process.argv.slice(2);
const log = createLogger({ name: 'example', level: 'info' });
process.on('message', (message) => process.send(message));
for (let n = 0; n < Number(count); n++) log.info({ n, text: 'x'.repeat(900) }, 'line');
if (then === 'exit') process.exit(3);
if (then === 'throw') throw new Error('an error');
if (then === 'end') process.disconnect();
