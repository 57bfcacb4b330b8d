// `npm test`: the tests, and beside them the static checks, whose result comes last. `npm test -- <vitest arguments>`
// runs only matching specs, without the static checks; `--project unit` stands for all projects of unit tests.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { text } from 'node:stream/consumers';

const PROJECTS = ['unit', 'integration'].flatMap((name) => ['--project', `${name}*`]);
const args = process.argv
  .slice(2)
  .map((arg, i, { [i - 1]: before }) => (before === '--project' ? `${arg}*` : arg));

const isOnlySome = args.length > 0;
const lint = isOnlySome
  ? null
  : spawn('npm', ['run', 'lint'], { stdio: ['ignore', 'pipe', 'inherit'] });
const checks = lint && Promise.all([once(lint, 'exit'), text(lint.stdout)]);
const tests = spawn('vitest', ['run', ...(isOnlySome ? args : PROJECTS)], { stdio: 'inherit' });
const [status] = await once(tests, 'exit');
if (status !== 0) process.exitCode = 1;
if (checks !== null) {
  const [[lintStatus], output] = await checks;
  process.stdout.write(`${output}\nStatic checks: ${lintStatus === 0 ? 'passed' : 'FAILED'}\n`);
  if (lintStatus !== 0) process.exitCode = 1;
}
