import { needs } from '@weir/ops/testing';
import { ManagementClient } from '@weir/tools/deployment/management-client';
import { startUpstream, UPSTREAM_ADDRESS } from '@weir/tools/deployment/dns-message';
import { freshUserEnvironment, shareDependencies } from '@weir/tools/services/clone';
import { execFile } from 'node:child_process';
import { existsSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createServer as createHttpServer, get } from 'node:http';
import { type AddressInfo, createServer, type Server } from 'node:net';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { setTimeout as sleep } from 'node:timers/promises';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { DnsWatch } from './testing/dns-watch.js';
import { FreshClone, repository } from './testing/fresh-clone.js';
import { PATIENT } from './testing/patient.js';
import { OTHER_PORTS, PORTS, portVariables } from './testing/ports.js';
import { ask, dig } from './testing/resolver-client.js';
import { Terminal } from './testing/terminal.js';

const BLOCK_PAGE_ADDRESS = '127.0.0.1';
// Domains of the built-in catalogue.
const GAMBLING = 2;
const YOUTUBE = 1;
// Domains that are in no catalogue yet.
const NEW_CATEGORY = 1_000_000;
const IN_FORCE = { timeout: 120_000, interval: 100 };
const FIRST_START_MS = 580_000;
const SECOND_START_MS = 120_000;

let clone: FreshClone;
let upstream: Awaited<ReturnType<typeof startUpstream>>;

const environment = (overrides: Record<string, string> = {}) => ({
  ...freshUserEnvironment(),
  ...portVariables(PORTS),
  UPSTREAMS: `127.0.0.1:${upstream.address().port}`,
  CATALOGUE_INTERVAL_MS: '2000',
  ...PATIENT,
  ...overrides,
});
const npmStart = (overrides: Record<string, string> = {}) =>
  new Terminal('npm', ['start'], { cwd: clone.folder, env: environment(overrides) });
const apiUrl = `http://127.0.0.1:${PORTS.management}`;

/** The block page for a visitor of that name. */
function fetchPage(host: string): Promise<{ status: number; body: string }> {
  return new Promise((resolve, reject) => {
    const headers = { Host: host, Accept: 'text/html' };
    get({ host: '127.0.0.1', port: PORTS.blockPage, headers }, (response) => {
      text(response).then((body) => {
        resolve({ status: response.statusCode ?? 0, body });
      }, reject);
    }).on('error', reject);
  });
}

/** Processes that run from the clone. */
function processesOfClone(): string[] {
  return readdirSync('/proc')
    .filter((pid) => /^\d+$/.test(pid))
    .filter((pid) => {
      try {
        return (
          readFileSync(`/proc/${pid}/cmdline`, 'utf8').includes(clone.folder) ||
          readFileSync(`/proc/${pid}/environ`, 'utf8').includes(`PWD=${clone.folder}\0`)
        );
      } catch {
        return false; // it ended meanwhile
      }
    });
}

beforeAll(async () => {
  clone = new FreshClone();
  // npm ci takes as long as all the rest: first-start.nightly.spec.ts does it.
  await shareDependencies(repository, clone.folder);
  upstream = await startUpstream();
});

afterAll(() => {
  upstream.close();
  clone.remove();
});

describe('a new user who runs npm start in a fresh clone', () => {
  let terminal: Terminal;
  let api: ManagementClient;
  let startedMs: number;

  beforeAll(async () => {
    startedMs = performance.now();
    terminal = npmStart();
    await terminal.waitFor('Ctrl-C stops everything', FIRST_START_MS);
    process.stdout.write(`first start: ${((performance.now() - startedMs) / 1000).toFixed(1)} s\n`);
    api = new ManagementClient(PORTS.management, /Token\s+(\S+)/.exec(terminal.output)![1]);
  });

  afterAll(async () => {
    await terminal.interrupt();
  });

  it('sees addresses, the token and commands to try', () => {
    expect(terminal.output).toContain(apiUrl);
    expect(terminal.output).toContain(
      `127.0.0.1 port ${PORTS.dns}, 127.0.0.1 port ${PORTS.dns + 1}`,
    );
    expect(terminal.output.match(/^ {2}(curl|dig) /gm)).toHaveLength(5);
    expect(terminal.output).toMatch(/^ {2}Degraded +only sample names in 3 Malware, 4 Phishing;/m);
  });

  it('gets answers of the upstream before anything is configured', async () => {
    for (const port of [PORTS.dns, PORTS.dns + 1]) {
      expect(await ask(port, 'www.example.com')).toEqual([UPSTREAM_ADDRESS]);
    }
  });

  it('blocks a name with a block page, a profile, a network and a deny rule, on both resolvers at once', async () => {
    expect(await api.call('POST', '/blockpage/', { id: 1, type: 0 })).toMatchObject({
      status: 201,
      applied: 2,
      total: 2,
    });
    expect(await api.call('POST', '/profiles/', { profile: { id: 1, page_id: 1 } })).toMatchObject({
      status: 201,
      applied: 2,
      total: 2,
    });
    expect(await api.call('POST', '/net/', { ip: '127.0.0.1', profile_id: 1 })).toMatchObject({
      status: 201,
      applied: 2,
      total: 2,
    });
    const rule = await api.call('POST', '/profile/1/bw_list', {
      type: 'deny',
      domain: 'example.com',
    });
    expect(rule).toMatchObject({ status: 201, applied: 2, total: 2 });
    for (const port of [PORTS.dns, PORTS.dns + 1]) {
      for (const protocol of ['udp', 'tcp'] as const) {
        expect(await ask(port, 'www.example.com', { protocol })).toEqual([BLOCK_PAGE_ADDRESS]);
        expect(await ask(port, 'www.example.com', { protocol, type: 'AAAA' })).toEqual(['::1']);
        expect(await ask(port, 'www.example.net', { protocol })).toEqual([UPSTREAM_ADDRESS]);
      }
    }
  });

  it('is told why by the command of the README: the deny rule, since when, and the call that lifts it', async () => {
    const readme = readFileSync(join(clone.folder, 'README.md'), 'utf8');
    const command = /^npm run weir -- explain [^#]+/m.exec(readme)![0];
    const env = freshUserEnvironment();
    const weir = new Terminal('sh', ['-c', command], { cwd: clone.folder, env });
    expect([await weir.exitCode(), weir.output]).toEqual([0, expect.any(String)]);
    expect(weir.output).toMatch(/^=> +domain_rule +deny +example\.com$/m);
    expect(weir.output).toMatch(/^verdict +deny$/m);
    expect(weir.output).toMatch(/^since +2\S+Z, revision \d+, token env-1, request \S+$/m);
    expect(weir.output).toMatch(/^flip +POST \/profile\/1\/bw_list \{"type":"allow",/m);
  });

  it('sees the block page when visiting the blocked name', async () => {
    const page = await fetchPage('www.example.com');
    expect(page.status).toBe(403);
    expect(page.body).toContain('<bdi>www.example.com</bdi>');
    expect(page.body).toContain('Your list of blocked sites');
    expect((await fetchPage('www.example.net')).body).toContain('This site is not blocked');
  });

  it('gets the upstream’s answer right after a PATCH allows the name again', async () => {
    for (const [type, address] of [
      ['allow', UPSTREAM_ADDRESS],
      ['deny', BLOCK_PAGE_ADDRESS],
      ['allow', UPSTREAM_ADDRESS],
    ] as const) {
      const patched = await api.call('PATCH', '/profile/1/bw_list/example.com', { type });
      expect(patched).toMatchObject({ status: 200, applied: 2, total: 2 });
      expect(await ask(PORTS.dns, 'example.com')).toEqual([address]);
      expect(await ask(PORTS.dns + 1, 'example.com')).toEqual([address]);
    }
  });

  it('sees the same with dig', needs('dig'), async () => {
    await api.call('POST', '/profile/1/bw_list', { type: 'deny', domain: 'dig.example' });
    expect(await dig(PORTS.dns, 'www.dig.example')).toBe(BLOCK_PAGE_ADDRESS);
    expect(await dig(PORTS.dns + 1, 'www.dig.example', '+tcp')).toBe(BLOCK_PAGE_ADDRESS);
    expect(await dig(PORTS.dns, 'www.dig.example', 'AAAA')).toBe('::1');
    expect(await dig(PORTS.dns, 'elsewhere.example', '+tcp')).toBe(UPSTREAM_ADDRESS);
  });

  it('can run the printed commands as they stand', needs('dig', 'curl'), async () => {
    const commands = terminal.output
      .split('\n')
      .filter((line) => /^ {2}(export|curl|dig) /.test(line));
    // The profile and the network exist already: the API answers 409, and the other commands still work.
    const { stdout: output } = await promisify(execFile)('bash', ['-c', commands.join('\n')]);
    expect(output).toContain('"detail"');
    expect(output).toMatch(/^www\.example\.com\.\s+\d+\s+IN\s+A\s+127\.0\.0\.1$/m);
  });

  it('filters by category and application of the built-in catalogue', async () => {
    const answer = () =>
      Promise.all(['bet365.com', 'www.youtube.com'].map((qname) => ask(PORTS.dns, qname)));
    expect(await answer()).toEqual([[UPSTREAM_ADDRESS], [UPSTREAM_ADDRESS]]);
    await api.call('PATCH', '/profiles/1', {
      cat_ids: [GAMBLING],
      apps: [{ app_id: YOUTUBE, status: 'deny' }],
    });
    expect(await answer()).toEqual([[BLOCK_PAGE_ADDRESS], [BLOCK_PAGE_ADDRESS]]);
    await api.call('PATCH', '/profiles/1', { cat_ids: [], apps: [] });
    expect(await answer()).toEqual([[UPSTREAM_ADDRESS], [UPSTREAM_ADDRESS]]);
  });

  it('blocks the names of a new list in the catalogue, without losing a query', async () => {
    const ports = [PORTS.dns, PORTS.dns + 1];
    const answersOf = (qname: string) => Promise.all(ports.map((port) => ask(port, qname)));
    const [permitted, blocked] = [UPSTREAM_ADDRESS, BLOCK_PAGE_ADDRESS].map((one) => [
      [one],
      [one],
    ]);
    const listServer = createHttpServer((_request, response) => response.end('at-url.example\n'));
    await new Promise<void>((resolve) => listServer.listen(0, '127.0.0.1', resolve));
    const { port: listPort } = listServer.address() as AddressInfo;
    const definition = join(clone.folder, 'catalogue/catalogue.yaml');
    const asBefore = readFileSync(definition, 'utf8');
    const list = join(clone.folder, 'catalogue/dropped.txt');
    const category = `categories:
  - id: ${NEW_CATEGORY}
    name: New
    sources:
      - { file: dropped.txt, format: domains }
      - { url: "http://127.0.0.1:${listPort}/list", format: domains }
`;
    const watches = ports.map((port) => new DnsWatch(port, UPSTREAM_ADDRESS));
    try {
      await api.call('PATCH', '/profiles/1', { cat_ids: [NEW_CATEGORY] });
      expect(await answersOf('www.dropped.example')).toEqual(permitted);
      const startMs = performance.now();
      writeFileSync(list, 'dropped.example\n');
      writeFileSync(definition, asBefore.replace(/^categories:\n/m, category));
      await expect.poll(() => answersOf('www.dropped.example'), IN_FORCE).toEqual(blocked);
      await expect.poll(() => answersOf('www.at-url.example'), IN_FORCE).toEqual(blocked);
      writeFileSync(list, 'changed.example\n');
      await expect.poll(() => answersOf('www.changed.example'), IN_FORCE).toEqual(blocked);
      expect(await answersOf('www.dropped.example')).toEqual(permitted);
      process.stdout.write(
        `three catalogues in force within ${((performance.now() - startMs) / 1000).toFixed(1)} s\n`,
      );
    } finally {
      await Promise.all(watches.map((watch) => watch.stop()));
      listServer.close();
      rmSync(list, { force: true });
      writeFileSync(definition, asBefore);
    }
    for (const { lost, answered } of watches) {
      expect(lost).toEqual([]);
      expect(answered).toBeGreaterThan(50);
    }
    await api.call('PATCH', '/profiles/1', { cat_ids: [] });
  });

  it('finds 100 changes in force on a resolver that was stopped while they were made', async () => {
    const given = JSON.parse(
      readFileSync(join(clone.folder, '.weir/stack.json'), 'utf8'),
    ) as Record<string, Record<string, string>>;
    const port = PORTS.dns + 2;
    const runThird = () =>
      new Terminal(join(clone.folder, 'node_modules/.bin/node'), ['apps/resolver/dist/main.js'], {
        cwd: clone.folder,
        env: environment({
          ...given['resolver-0'],
          DNS_PORT: String(port),
          OPS_PORT: String(PORTS.ops + 12),
          DATA_DIR: join(clone.folder, '.weir/resolver-third'),
        }),
      });
    const domains = Array.from({ length: 100 }, (_, i) => `missed-${i}.example`);
    const blocked = async () => {
      const soon = { timeoutMs: 2_000 };
      const answers = await Promise.all(
        domains.map((domain) => ask(port, domain, soon).catch(() => [])),
      );
      return answers.filter(([address]) => address === BLOCK_PAGE_ADDRESS).length;
    };
    const ready = async () =>
      fetch(`http://127.0.0.1:${PORTS.ops + 12}/readyz`).then(
        (response) => response.ok,
        () => false,
      );

    let third = runThird();
    try {
      while (!(await ready())) await sleep(20);
      expect(await third.interrupt('SIGTERM')).toBe(0);
      for (const domain of domains) {
        const added = await api.call('POST', '/profile/1/bw_list', { type: 'deny', domain });
        expect(added).toMatchObject({ status: 201, applied: 2, total: 2 });
      }
      const startMs = performance.now();
      third = runThird();
      // It starts from its disk at once, and reads the missing changes from the log.
      await expect.poll(blocked, { timeout: 120_000, interval: 20 }).toBe(100);
      process.stdout.write(
        `all of 100 missed changes in force ${((performance.now() - startMs) / 1000).toFixed(2)} s after the start of the process\n`,
      );
    } finally {
      expect(await third.interrupt('SIGTERM')).toBe(0);
    }
  });

  it('finds no changed or untracked files in the clone', () => {
    expect(clone.status()).toBe('');
  });

  it('stops everything that was started, and nothing else, with Ctrl-C', async () => {
    await terminal.interrupt();
    expect(terminal.output).toContain('Stopping');
    expect(processesOfClone()).toEqual([]);
    await expect(fetch(apiUrl)).rejects.toThrow();
    expect(await ask(upstream.address().port, 'www.example.com')).toEqual([UPSTREAM_ADDRESS]);
  });

  it('finds the whole configuration again after a second start', async () => {
    const againMs = performance.now();
    terminal = npmStart();
    await terminal.waitFor('Ctrl-C stops everything', SECOND_START_MS);
    process.stdout.write(`second start: ${((performance.now() - againMs) / 1000).toFixed(1)} s\n`);
    expect(await ask(PORTS.dns + 1, 'missed-99.example')).toEqual([BLOCK_PAGE_ADDRESS]);
    expect(JSON.parse((await api.change('GET', '/profiles/1', undefined)).text)).toMatchObject({
      profile: { id: 1, page_id: 1 },
    });
  });

  it('sees which process was killed, with the last lines of its log, and that it is running again', async () => {
    const [resolver] = processesOfClone().filter(
      (pid) =>
        readFileSync(`/proc/${pid}/environ`, 'utf8').includes(`DNS_PORT=${PORTS.dns + 1}\0`) &&
        readFileSync(`/proc/${pid}/cmdline`, 'utf8').includes('apps/resolver/dist/main.js'),
    );
    process.kill(Number(resolver), 'SIGKILL');
    await terminal.waitFor('resolver-1 is up again', SECOND_START_MS);
    expect(terminal.output).toMatch(
      /resolver-1 ended by itself \(killed by SIGKILL\); it is started again in 0\.2 s\. Its last lines/,
    );
    expect(terminal.output).toMatch(/resolver-1\.log\):\n.*"process":"resolver"/);
    expect(await ask(PORTS.dns + 1, 'missed-99.example')).toEqual([BLOCK_PAGE_ADDRESS]);
  });

  it('cannot start a second stack in its folder, and stops it completely by a signal to npm only', async () => {
    const other = npmStart(portVariables(OTHER_PORTS));
    expect(await other.exitCode()).toBe(1);
    expect(other.output).toMatch(
      /^weir: .*\.weir is in use by another stack, pid \d+ \(DATA_DIR\)$/m,
    );
    expect(await ask(PORTS.dns, 'www.missed-1.example')).toEqual([BLOCK_PAGE_ADDRESS]);
    await terminal.interruptFirst('SIGTERM');
    expect(terminal.output).toContain('Stopping');
    expect(processesOfClone()).toEqual([]);
  });
});

describe('a stack that is killed', () => {
  it('takes everything that it started with it', needs('setpriv'), async () => {
    const terminal = npmStart();
    await terminal.waitFor('Ctrl-C stops everything', SECOND_START_MS);
    const [stack] = processesOfClone().filter((pid) =>
      readFileSync(`/proc/${pid}/cmdline`, 'utf8').includes('node\0tools/dist/stack/main.js'),
    );
    process.kill(Number(stack), 'SIGKILL');
    expect(await terminal.exitCode()).not.toBe(0);
    await vi.waitFor(() => {
      expect(processesOfClone()).toEqual([]);
    }, 120_000);
  });
});

describe('a stack that starts', () => {
  it('stops during its start with Ctrl-C', async () => {
    const terminal = npmStart();
    await terminal.waitFor('Starting PostgreSQL', SECOND_START_MS);
    await terminal.interrupt();
    expect(terminal.output).toContain('Stopping');
    expect(terminal.output).not.toContain('Weir is ready');
    await vi.waitFor(() => {
      expect(processesOfClone()).toEqual([]);
    }, 120_000);
  });
});

describe('npm start with a wrong setting', () => {
  it.each([
    ['DNS_PORT', '53OO', /^weir: DNS_PORT must be a port number from 1 to 65525$/m],
    [
      'OWNER_DATABASE_URL',
      'postgresql://db.example/weir',
      /^weir: OWNER_DATABASE_URL needs DATABASE_URL$/m,
    ],
    ['RESOLVERS', '0', /^weir: RESOLVERS must be a whole number from 1 to 10$/m],
    ['BLOCK_TTL', 'ten', /^weir: resolver: BLOCK_TTL must be .+$/m],
    ['MANAGEMENT_BODY_LIMIT', 'huge', /^weir: control-plane: MANAGEMENT_BODY_LIMIT must be .+$/m],
  ])('names a wrong %s in one line and exits 1', async (name, value, line) => {
    const terminal = npmStart({ [name]: value });
    expect(await terminal.exitCode()).toBe(1);
    expect(terminal.output).toMatch(line);
  });

  it('is told by --check too, which starts and writes nothing', async () => {
    const check = async (overrides: Record<string, string>) => {
      const env = environment({ DATA_DIR: 'absent', ...overrides });
      const terminal = new Terminal('npm', ['start', '--', '--check'], { cwd: clone.folder, env });
      return [await terminal.exitCode(), terminal.output] as const;
    };
    const [code, output] = await check({ LOG_LEVEL: 'loud' });
    expect([code, output]).toEqual([1, expect.stringMatching(/^weir: \S+: LOG_LEVEL must be/m)]);
    expect((await check({}))[0]).toBe(0);
    expect(existsSync(join(clone.folder, 'absent'))).toBe(false);
  });

  it('names the certificate file that cannot be read, and leaves no process running', async () => {
    const terminal = npmStart({
      MANAGEMENT_TLS_CERT: 'nowhere.crt',
      MANAGEMENT_TLS_KEY: 'nowhere.key',
    });
    expect(await terminal.exitCode()).toBe(1);
    expect(terminal.output).toContain(
      'MANAGEMENT_TLS_CERT names a file that cannot be read: nowhere.crt (ENOENT)',
    );
    expect(processesOfClone()).toEqual([]);
  });

  it('names the port in use and its variable', async () => {
    const squatter: Server = createServer();
    await new Promise<void>((resolve) => squatter.listen(PORTS.management, '127.0.0.1', resolve));
    const terminal = npmStart();
    expect(await terminal.exitCode()).toBe(1);
    expect(terminal.output).toContain(
      `127.0.0.1:${PORTS.management} is in use by another process (MANAGEMENT_PORT)`,
    );
    await new Promise((resolve) => squatter.close(resolve));
  });
});
