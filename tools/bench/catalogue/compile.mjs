// Reads a catalogue folder and compiles it, as the control plane does; prints one JSON object. Started by run.mjs.
import {
  compileCatalogue,
  DEFAULT_LIMITS,
  openSource,
  readDefinition,
  readNames,
} from '@weir/catalogue';
import { parseHashKey } from '@weir/dns-name';
import { writeFileSync } from 'node:fs';

const KEY = parseHashKey('000102030405060708090a0b0c0d0e0f');
const [folder, imageFile] = process.argv.slice(2);

const startMs = performance.now();
const { categories } = await readDefinition(folder);
const groups = [];
for (const { id, name, sources } of categories) {
  const lists = [];
  for (const source of sources) {
    const opened = await openSource(source, {
      maxBytes: DEFAULT_LIMITS.maxBytes,
      timeoutMs: 3_600_000,
    });
    if (opened.status !== 'opened') throw new Error('a list was read before');
    lists.push((await readNames(opened.body, source.format, KEY)).names);
  }
  groups.push({ id, name, lists });
}
const readMs = performance.now() - startMs;
const { image, domainCount } = compileCatalogue({ categories: groups, applications: [] }, KEY);
const compileMs = performance.now() - startMs - readMs;
const peakKib = process.resourceUsage().maxRSS;
const { user, system } = process.cpuUsage();
writeFileSync(imageFile, image);
process.stdout.write(
  JSON.stringify({
    readMs,
    compileMs,
    cpuMs: (user + system) / 1000,
    peakKib,
    names: domainCount,
    imageBytes: image.length,
  }),
);
