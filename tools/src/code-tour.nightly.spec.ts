import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, relative } from 'node:path';
import { fileURLToPath } from 'node:url';
import { beforeAll, expect, it } from 'vitest';
import { Deployment } from './deployment/deployment.js';
import { DnsClient } from './deployment/dns-client.js';

const root = fileURLToPath(new URL('../..', import.meta.url));
/** How often each of the three is done. */
const TIMES = 300;

/** Calls of a function, by its source and where it begins in the compiled file. */
type Calls = Map<string, { readonly file: string; count: number }>;

interface Coverage {
  readonly result: readonly {
    readonly url: string;
    readonly functions: readonly {
      readonly ranges: readonly { readonly startOffset: number; readonly count: number }[];
    }[];
  }[];
}

/** The files of a section of the tour. */
function filesOf(title: string): string[] {
  const text = readFileSync(join(root, 'docs/code-tour.md'), 'utf8');
  const [, section = ''] = text.split(`\n## ${title}\n`);
  const links = section.split('\n## ')[0].matchAll(/\]\(\.\.\/(\S+\.ts)\)/g);
  return [...new Set([...links].map(([, file]) => file))];
}

/** The calls of all functions of ours, in all threads. */
function callsIn(folder: string): Calls {
  const calls: Calls = new Map();
  for (const name of readdirSync(folder)) {
    const { result } = JSON.parse(readFileSync(join(folder, name), 'utf8')) as Coverage;
    for (const { url, functions } of result) {
      const path = url.startsWith('file:') ? relative(root, fileURLToPath(url)) : '';
      if (!/^(apps|libs)\/[^/]+\/dist\//.test(path)) continue;
      const file = path.replace('/dist/', '/src/').replace(/\.js$/, '.ts');
      for (const { ranges } of functions) {
        const key = `${file} ${ranges[0].startOffset}`;
        const one = calls.get(key) ?? { file, count: 0 };
        one.count += ranges[0].count;
        calls.set(key, one);
      }
    }
  }
  return calls;
}

type Act = (deployment: Deployment, dns: DnsClient, i: number) => Promise<unknown>;

/** The calls in a control plane and a resolver that start, do something `TIMES` times, and end. */
async function callsOf(act: Act): Promise<Calls> {
  const folder = mkdtempSync(join(tmpdir(), 'weir-code-tour-'));
  const coverage = join(folder, 'coverage');
  const dns = new DnsClient();
  const deployment = await Deployment.create({
    ...{ folder, replicas: 1, resolvers: 1, fsync: false },
    replicaVariables: () => ({ NODE_V8_COVERAGE: coverage, CATALOGUE_INTERVAL_MS: '3600000' }),
    resolverVariables: () => ({ NODE_V8_COVERAGE: coverage, RESOLVER_THREADS: '1' }),
  });
  try {
    await deployment.start();
    const [client] = deployment.clients;
    await client.change('POST', '/profiles/', { profile: { id: 1 }, cat_ids: [] });
    await client.change('POST', '/net/', { ip: '127.0.0.1', profile_id: 1 });
    for (let i = 0; i < TIMES + 1; i++) await act(deployment, dns, i);
    for (const one of [...deployment.resolvers, ...deployment.replicas]) await one.terminate();
    return callsIn(coverage);
  } finally {
    await dns.close();
    await deployment.stop();
    rmSync(folder, { recursive: true });
  }
}

/** What only starts and ends has no part in it. */
let without: Calls;
beforeAll(async () => {
  without = await callsOf(() => Promise.resolve());
});

it.each<[string, Act]>([
  [
    'A rule that blocks a domain',
    ({ clients }, _dns, i) =>
      clients[0].change('POST', '/profile/1/bw_list', {
        ...{ type: 'deny', domain: `d${i}.example.com` },
      }),
  ],
  [
    'An answer from the cache',
    ({ dnsPorts }, dns) => dns.ask('127.0.0.1', dnsPorts[0], 'a.example'),
  ],
  [
    'An answer of an upstream resolver',
    ({ dnsPorts }, dns, i) => dns.ask('127.0.0.1', dnsPorts[0], `d${i}.example`),
  ],
])('%s: every file of the code tour has a part in it', async (title, act) => {
  const calls = [...(await callsOf(act))].filter(([key, { count }]) => {
    const more = count - (without.get(key)?.count ?? 0);
    // An upstream that is asked needs fewer health checks.
    return count >= TIMES && more >= 0.9 * TIMES;
  });
  const ran = new Set(calls.map(([, { file }]) => file));
  process.stdout.write(`${title}: ${ran.size} files\n${[...ran].toSorted().join('\n')}\n`);
  const named = filesOf(title);
  expect(named.length).toBeGreaterThan(10);
  expect(named.filter((file) => !ran.has(file))).toEqual([]);
});
