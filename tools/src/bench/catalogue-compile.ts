/*
 * Compiles the catalogue of a folder as the control plane does, in a process that bench:catalogue starts. It prints its
 * figures by their titles, as JSON.
 */
import {
  compileCatalogue,
  DEFAULT_LIMITS,
  openSource,
  readDefinition,
  readNames,
} from '@weir/catalogue';
import { parseHashKey } from '@weir/dns-name';

const KEY = parseHashKey('000102030405060708090a0b0c0d0e0f');
const LIMITS = { maxBytes: DEFAULT_LIMITS.maxBytes, timeoutMs: 3_600_000 };

async function compile(folder: string) {
  const startMs = performance.now();
  const { categories } = await readDefinition(folder);
  const groups = [];
  for (const { id, name, sources } of categories) {
    const lists = [];
    for (const source of sources) {
      const opened = await openSource(source, LIMITS);
      if (opened.status !== 'opened') throw new Error('a list was read before');
      lists.push((await readNames(opened.body, source.format, KEY)).names);
    }
    groups.push({ id, name, lists });
  }
  const readMs = performance.now() - startMs;
  const { image, domainCount } = compileCatalogue({ categories: groups, applications: [] }, KEY);
  const compileMs = performance.now() - startMs - readMs;
  const peakKib = process.resourceUsage().maxRSS;
  return {
    names: domainCount,
    'read, s': readMs / 1_000,
    'compile, s': compileMs / 1_000,
    'peak memory, MiB': peakKib / 1_024,
    'image, MB': image.length / 1e6,
  };
}

process.stdout.write(JSON.stringify(await compile(process.argv[2])));
