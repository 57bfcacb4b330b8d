import { decodeMessage, encodeQuery, hexOf } from '@weir/dns-wire/testing';
import { needs } from '@weir/ops/testing';
import { domainRule, FEED_TOKEN, HASH_KEY_HEX, loopback, profile } from '@weir/policy-feed/testing';
import { createServer, type AddressInfo } from 'node:net';
import { beforeEach, describe, expect, it } from 'vitest';
import { a } from '../query/testing/records.js';
import { askUdp } from '../testing/client.js';
import { run as runProgram } from '../testing/programs.js';
import { activateCatalogue, useResolverEnvironment } from '../testing/resolver-environment.js';
import { startResolverProcess } from '../testing/resolver-process.js';
import { respond } from '../testing/respond.js';

const PAGE = 'c0000250';

/** Preloaded: each thread says so when it loads what takes megabytes and serves nothing there. */
const REPORT_LOADED = `data:text/javascript,${encodeURIComponent(`
  import { writeSync } from 'node:fs';
  import { registerHooks } from 'node:module';
  import { isMainThread } from 'node:worker_threads';
  setInterval(() => {
    if (process.moduleLoadList.some((name) => name.endsWith('/undici'))) writeSync(2, 'loaded fetch\\n');
  }, 20).unref();
  registerHooks({
    load(url, context, next) {
      if (!isMainThread && url.endsWith('/prom-client/index.js')) writeSync(2, 'loaded prom-client\\n');
      return next(url, context);
    },
  });
`)}`;

const resolverEnvironment = useResolverEnvironment();

beforeEach(async () => {
  await resolverEnvironment.plane.commit(
    profile(1),
    loopback(1),
    domainRule(1, 'deny', 'blocked.example'),
  );
});

function run(environment: Record<string, string> = {}, ...args: string[]) {
  const UPSTREAMS = `127.0.0.1:${resolverEnvironment.upstream.endpoint.port}`;
  const started = startResolverProcess(
    { ...resolverEnvironment.variables, UPSTREAMS, ...environment },
    ...args,
  );
  resolverEnvironment.cleanups.push(() => started.child.kill('SIGKILL'));
  return started;
}

const ask = (server: { address: string; port: number }, name: string) =>
  askUdp(server, encodeQuery(name, 1, { udpBytes: 1232 }));

describe('the resolver process', () => {
  it.each(['SIGTERM', 'SIGINT'] as const)(
    'answers, finishes the queries in flight at %s, and exits with 0',
    async (signal) => {
      const { upstream } = resolverEnvironment;
      const { child, output, exited, ready } = run();
      const { dns: server } = await ready();
      expect(await ask(server, 'blocked.example')).not.toBeNull();
      upstream.answer = (query) => {
        setTimeout(() => {
          upstream.sendTo(respond(query, { answers: [a('192.0.2.1')] }), query.from!);
        }, 400);
        return null;
      };
      const answer = ask(server, 'www.example.com');
      await expect.poll(() => upstream.asked.length).toBeGreaterThan(0);
      child.kill(signal);
      expect(await exited).toBe(0);
      expect(await answer).not.toBeNull();
      expect(output.errors).toBe('');
      expect(output.text).not.toContain('example.com');
      expect(output.text).not.toContain(HASH_KEY_HEX);
      expect(output.text).not.toContain(FEED_TOKEN);
    },
  );

  it('is not ready while it drains, but still answers and obeys every change', async () => {
    const { plane } = resolverEnvironment;
    await plane.commit(activateCatalogue(plane));
    const { child, ready } = run({ DRAIN_S: '600', BLOCK_PAGE_IPV4: '192.0.2.80' });
    const { dns: server, opsPort } = await ready();
    const isBlocked = async (name: string) =>
      decodeMessage((await ask(server, name))!).answers.some(({ rdata }) => hexOf(rdata) === PAGE);
    const readiness = async () => {
      const { rcode, ede } = decodeMessage((await ask(server, 'ready.weir.invalid'))!);
      const response = await fetch(`http://127.0.0.1:${opsPort}/readyz`);
      return [rcode, ede, response.status, await response.text()];
    };
    await expect.poll(readiness).toEqual([0, [], 200, 'ok\n']);
    child.kill('SIGTERM');
    await expect.poll(readiness).toEqual([2, [14], 503, 'stopping\n']);
    expect((await fetch(`http://127.0.0.1:${opsPort}/livez`)).status).toBe(200);
    for (let i = 0; i < 5; i++) {
      const applied = await plane.commit(domainRule(1, 'deny', `n${i}.example.com`));
      expect(applied).toEqual({ applied: 1, total: 1 });
      expect(await isBlocked(`n${i}.example.com`)).toBe(true);
      expect(await isBlocked('www.example.com')).toBe(false);
    }
  });

  it('leaves the feed when it has drained, and exits with 0', async () => {
    const noResolver = { applied: 0, total: 0 };
    // Remove the resolvers that another test has killed.
    await expect.poll(() => resolverEnvironment.plane.commit(profile(2))).toEqual(noResolver);
    const { child, output, exited, ready } = run({ DRAIN_S: '1' });
    await ready();
    expect(await resolverEnvironment.plane.commit(profile(2))).toEqual({ applied: 1, total: 1 });
    child.kill('SIGTERM');
    expect(await exited).toBe(0);
    expect(await resolverEnvironment.plane.commit(profile(2))).toEqual(noResolver);
    expect(output.errors).toBe('');
  });

  it('loads nothing of fetch (7 MB in each thread), and metrics (2 MB) in the main thread only', async () => {
    const { child, output, exited, ready } = run({ NODE_OPTIONS: `--import=${REPORT_LOADED}` });
    await ready();
    child.kill('SIGTERM');
    expect(await exited).toBe(0);
    expect(output.errors).toBe('');
  });

  it('exits with 0 at SIGTERM while its threads load', async () => {
    for (let i = 0; i < 8; i++) {
      const { child, output, exited } = run({ RESOLVER_THREADS: '2' });
      child.stdout.once('data', () => setTimeout(() => child.kill('SIGTERM'), 20 * i));
      expect(await exited, output.errors).toBe(0);
      expect(output.text).toContain('"msg":"stopped"');
    }
  });

  it('exits with 1 and one line where UDP packets cannot come in batches', async () => {
    const { output, exited } = run({ NODE_OPTIONS: '--no-addons' });
    expect(await exited).toBe(1);
    expect(output.errors).toMatch(
      /^resolver: a resolver needs Linux on x64 or arm64, with recvmmsg: [^\n]+\n$/,
    );
  });

  it('exits with 1 and one line that names an invalid variable', async () => {
    const { output, exited } = run({ BLOCK_TTL: 'ten' });
    expect(await exited).toBe(1);
    expect(output.errors).toBe('resolver: BLOCK_TTL must be a whole number from 0 to 86400\n');
  });

  it.each(['DNS_PORT', 'OPS_PORT'])(
    'exits with 1 and one line when %s is taken',
    async (variable) => {
      const taken = createServer();
      await new Promise<void>((resolve) => taken.listen(0, '127.0.0.1', resolve));
      resolverEnvironment.cleanups.push(() => taken.close());
      const { port } = taken.address() as AddressInfo;
      const { output, exited } = run({ [variable]: String(port) });
      expect(await exited).toBe(1);
      expect(output.errors).toBe(
        `resolver: 127.0.0.1:${port} is in use by another process (${variable})\n`,
      );
    },
  );

  it('exits with 1 and one line when an upstream is the resolver itself', async () => {
    const port = '5399';
    const { output, exited } = run({ DNS_PORT: port, UPSTREAMS: `192.0.2.53,127.0.0.1:${port}` });
    expect(await exited).toBe(1);
    expect(output.errors).toBe(
      'resolver: UPSTREAMS: 127.0.0.1 port 5399 is the address of this resolver itself\n',
    );
  });

  it.each([
    [{ DNS_ALLOWED_CLIENTS_FILE: '/nowhere' }, 'DNS_ALLOWED_CLIENTS_FILE names a file that cannot'],
    [{ LOCAL_RECORDS: '/nowhere' }, 'LOCAL_RECORDS names a file that cannot be read'],
    [{ FEED_TOKENS_FILE: '/nowhere' }, 'FEED_TOKENS_FILE names a file that cannot be read'],
    [{ FEED_CA: '/nowhere', FEED_URL: 'https://127.0.0.1:2' }, 'FEED_CA names a file that cannot'],
    [{ UPSTREAM_TLS_CA: '/nowhere' }, 'UPSTREAM_TLS_CA is not usable'],
    [
      { UPSTREAM_TRUST_AD: '192.0.2.9' },
      'UPSTREAM_TRUST_AD: 192.0.2.9:53 is not among the upstreams',
    ],
    [{ DNS_PORT: '5399', UPSTREAMS: '127.0.0.1:5399' }, 'UPSTREAMS: 127.0.0.1 port 5399 is the'],
    [
      { DNS_TLS_PORT: '8853', DNS_TLS_CERT: '/nowhere', DNS_TLS_KEY: '/nowhere' },
      'DNS_TLS_CERT names a file that cannot be read',
    ],
  ])('refuses %j with --check as well', async (environment, problem) => {
    const { output, exited } = run(environment, '--check');
    expect([await exited, output.text]).toEqual([1, '']);
    expect(output.errors).toMatch(/^resolver: [^\n]+\n$/);
    expect(output.errors).toContain(`resolver: ${problem}`);
  });

  it('says nothing with --check when it could start', async () => {
    const { output, exited } = run({}, '--check');
    expect([await exited, output.text, output.errors]).toEqual([0, '', '']);
  });

  it('prints its version', async () => {
    const { output, exited } = run({ WEIR_COMMIT: '89a4cd8' }, '--version');
    expect(await exited).toBe(0);
    expect(output.text).toMatch(/^resolver \d+\.\d+\.\d+ \(89a4cd8\)\n$/);
  });

  it('lists its variables', async () => {
    const { output, exited } = run({}, '--help');
    expect(await exited).toBe(0);
    expect(output.text).toContain('INSPECT_CNAME');
  });
});

describe('asked by dig', needs('dig'), () => {
  const digs = (server: { port: number }, ...args: string[]) =>
    runProgram('dig', ['@127.0.0.1', '-p', String(server.port), ...args]);

  it('answers DNS queries', async () => {
    const { ready } = run({ BLOCK_PAGE_IPV4: '192.0.2.80', BLOCK_PAGE_IPV6: '2001:db8::80' });
    const { dns: server } = await ready();
    const blocked = await digs(server, 'WWW.blocked.example', 'A');
    expect(blocked).toContain('status: NOERROR');
    expect(blocked).toMatch(/^WWW\.blocked\.example\.\t+10\tIN\tA\t192\.0\.2\.80$/m);
    expect(blocked).toContain('EDE: 17 (Filtered)');
    expect(blocked).not.toMatch(/warning|malformed|mismatch/i);
    expect(await digs(server, '+short', 'blocked.example', 'AAAA')).toBe('2001:db8::80\n');
    expect(await digs(server, '+short', 'blocked.example', 'HTTPS')).toBe('');
    expect(await digs(server, '+short', 'blocked.example', 'TXT')).toBe('');
    expect(await digs(server, '+short', '+tcp', 'www.example.com', 'A')).toBe('192.0.2.1\n');
    expect(await digs(server, '+short', '+noedns', 'www.example.com', 'A')).toBe('192.0.2.1\n');
    expect(await digs(server, 'www.example.com', 'ANY', '+notcp')).toContain('"RFC8482" ""');
    expect(await digs(server, '+norec', 'other.example.com')).toContain('status: REFUSED');
    expect(await digs(server, '-c', 'CH', 'version.bind', 'TXT')).toContain('status: REFUSED');
    expect(await digs(server, '+opcode=NOTIFY', 'www.example.com')).toContain('status: NOTIMP');
    expect(await digs(server, '+edns=1', '+noednsneg', 'www.example.com')).toContain(
      'status: BADVERS',
    );
  });
});
