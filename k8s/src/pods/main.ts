import { writeFileSync } from 'node:fs';
import { render } from '../render/render.js';
import { ciValues } from '../render/values.js';
import { reportPods } from './report.js';

const [file, values = 'full'] = process.argv.slice(2);
if (file === undefined) {
  process.stderr.write('usage: npm run chart:pods -- <file> [minimal|trial|full|daemonset]\n');
  process.exit(1);
}
const report = reportPods(render({ values: ciValues(values) }));
writeFileSync(file, `${JSON.stringify(report, null, 2)}\n`);
process.stdout.write(`${report.pods.length} pods of the ${values} values: ${file}\n`);
