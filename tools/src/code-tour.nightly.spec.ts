import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, relative } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, it } from 'vitest';
import { Deployment } from './deployment/deployment.js';
import { DnsClient } from './deployment/dns-client.js';

const root = fileURLToPath(new URL('../..', import.meta.url));
/** What happens at least as often as this belongs to what is done so often. */
const TIMES = 300;

interface Coverage {
  readonly result: readonly {
    readonly url: string;
    readonly functions: readonly { readonly ranges: readonly { readonly count: number }[] }[];
  }[];
}

/** The files of a section of the tour. */
function filesOf(title: string): string[] {
  const text = readFileSync(join(root, 'docs/code-tour.md'), 'utf8');
  const [, section = ''] = text.split(`\n## ${title}\n`);
  const links = section.split('\n## ')[0].matchAll(/\]\(\.\.\/(\S+\.ts)\)/g);
  return [...new Set([...links].map(([, file]) => file))];
}

/** The sources of the compiled files in which a function ran so often in one of the threads. */
function filesThatRan(folder: string): Set<string> {
  const files = readdirSync(folder).flatMap((name) => {
    const { result } = JSON.parse(readFileSync(join(folder, name), 'utf8')) as Coverage;
    return result
      .filter(({ functions }) => functions.some(({ ranges: [all] }) => all.count >= TIMES))
      .filter(({ url }) => url.startsWith('file:') && url.includes('/dist/'))
      .map(({ url }) => relative(root, fileURLToPath(url)));
  });
  const own = files.filter((file) => !file.startsWith('..') && !file.includes('node_modules'));
  return new Set(own.map((file) => file.replace('/dist/', '/src/').replace(/\.js$/, '.ts')));
}

it.each<[string, (deployment: Deployment, dns: DnsClient, i: number) => Promise<unknown>]>([
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
    const ran = filesThatRan(coverage);
    process.stdout.write(`${title}: ${ran.size} files\n${[...ran].toSorted().join('\n')}\n`);
    const named = filesOf(title);
    expect(named.length).toBeGreaterThan(10);
    expect(named.filter((file) => !ran.has(file))).toEqual([]);
  } finally {
    await dns.close();
    await deployment.stop();
    rmSync(folder, { recursive: true });
  }
});
