// `node main.js livez|readyz`: exit code 0 when the process in this container is healthy, else 1 with the reason. The
// images have no curl.
import { checkHealth, HEALTH_PATHS } from './health-check.js';

const path = HEALTH_PATHS.find((one) => one === process.argv[2]);
const reason =
  path === undefined ? `usage: ${HEALTH_PATHS.join('|')}` : await checkHealth(path, process.env);
if (reason !== null) {
  process.stdout.write(`${reason}\n`);
  process.exitCode = 1;
}
