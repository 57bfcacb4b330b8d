import { readFileSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { Deployment, UPSTREAM_ANSWER } from './testing/deployment.js';
import { docker, dockerEnvironment, inspectContainer, logsOf } from './testing/docker.js';
import { run } from './testing/run.js';
import { Subscriber } from './testing/subscriber.js';

/** Address of the machine that runs Weir, as subscribers see it. */
const MACHINE = '192.0.2.1';
const RESOLVERS = ['192.0.2.53', '192.0.2.54'];
const WEIR = ['control-plane', 'resolver-1', 'resolver-2', 'block-page'];
const HEALTH_CHECKS_MS = 11_000;
/** DRAIN_S plus ten seconds for the process plus the time of the engine. */
const STOP_S = 15;

let deployment: Deployment;
let subscriber: Subscriber;
let neighbour: Subscriber;

const print = (line: string) => void process.stdout.write(`${line}\n`);
const secondsSince = (startedMs: number) => (performance.now() - startedMs) / 1000;
const askedBy = (resolver: string) => subscriber.dig(resolver, 'www.example.com').catch(() => '');

beforeAll(async () => {
  subscriber = await Subscriber.connect('subscriber', '192.0.2.10', `${MACHINE}/26`);
  neighbour = await Subscriber.connect('neighbour', '192.0.2.70', '192.0.2.65/26');
  for (const address of RESOLVERS) await subscriber.addMachineAddress(address);
  deployment = await Deployment.create(dockerEnvironment());
  await deployment.makeEnv({
    RESOLVER_1_LISTEN: `${RESOLVERS[0]}:53`,
    RESOLVER_2_LISTEN: `${RESOLVERS[1]}:53`,
    BLOCK_PAGE_LISTEN: `${MACHINE}:80`,
    BLOCK_PAGE_IPV4: MACHINE,
    DRAIN_S: '2',
  });
  const startedMs = performance.now();
  await deployment.compose('up', '--detach', '--wait');
  print(`docker compose up --wait, empty volumes: ${secondsSince(startedMs).toFixed(1)} s`);
});

afterAll(async () => {
  await deployment.remove();
  await subscriber.disconnect();
  await neighbour.disconnect();
});

/** A secret of `.env`. */
function secretOf(name: string): string {
  return new RegExp(`^${name}=(\\w{32})$`, 'm').exec(deployment.env())![1];
}

describe('docker compose up', () => {
  it.each(['postgres', 'redis', ...WEIR])(
    'runs %s without root and capabilities, on a read-only file system',
    async (service) => {
      const { HostConfig: host, State: state } = await deployment.inspect(service);
      expect(state.Health?.Status).toBe('healthy');
      expect(host.ReadonlyRootfs).toBe(true);
      const status = readFileSync(`/proc/${state.Pid}/status`, 'utf8');
      expect(status).toMatch(/^Uid:\s+([1-9]\d*)\s+\1\s+\1\s+\1$/m);
      expect(status).toMatch(/^NoNewPrivs:\s+1$/m);
      for (const set of ['CapInh', 'CapPrm', 'CapEff', 'CapBnd', 'CapAmb']) {
        expect(status).toMatch(new RegExp(`^${set}:\\s+0+$`, 'm'));
      }
    },
  );

  it('migrates the database before it starts the control plane', async () => {
    const { State: migrate } = await deployment.inspect('migrate');
    const { State: controlPlane } = await deployment.inspect('control-plane');
    expect(migrate).toMatchObject({ Status: 'exited', ExitCode: 0 });
    expect(Date.parse(migrate.FinishedAt)).toBeLessThan(Date.parse(controlPlane.StartedAt));
    const again = await deployment.compose('run', '--rm', 'migrate');
    expect(again).toContain('the database is up to date');
  });

  it('lets only the control plane connect to the database', async () => {
    const connect = `require('node:net').connect(5432, 'postgres')
      .on('connect', () => process.exit(0)).on('error', () => process.exit(1))`;
    const from = async (service: string) =>
      (await deployment.tryCompose('exec', '-T', service, 'node', '-e', connect)).status;
    expect(await from('control-plane')).toBe(0);
    expect(await from('resolver-1')).toBe(1);
    expect(await from('block-page')).toBe(1);
  });

  it('gives the control plane a role of the database that changes rows only', async () => {
    const sql = `import('pg').then(async ({ default: pg }) => {
      const client = new pg.Client(process.env.DATABASE_URL);
      await client.connect();
      const { rows } = await client.query(
        'SELECT rolname, rolsuper, rolcreaterole, rolcreatedb FROM pg_roles WHERE rolname = current_user');
      const ways = ['DROP TABLE profile', 'CREATE TABLE another ()', "COPY profile TO PROGRAM 'true'"];
      const codes = [];
      for (const one of ways) codes.push(await client.query(one).catch(({ code }) => code));
      console.log(JSON.stringify([...rows, ...codes]));
      await client.end();
    })`;
    const said = await deployment.compose('exec', '-T', 'control-plane', 'node', '-e', sql);
    expect(JSON.parse(said)).toEqual([
      { rolname: 'weir_runtime', rolsuper: false, rolcreaterole: false, rolcreatedb: false },
      ...['42501', '42501', '42501'],
    ]);
  });

  it('has no secret on a command line', async () => {
    const secrets = [...deployment.env().matchAll(/^[A-Z_]+=([0-9a-f]{32})$/gm)];
    expect(secrets.length).toBeGreaterThan(6);
    const lines = await run('ps', ['-e', '-o', 'args=']);
    expect(lines).toContain('redis-server');
    for (const [, secret] of secrets) expect(lines).not.toContain(secret);
  });

  it.each(WEIR)('prints the start time and the memory of %s', async (service) => {
    const id = await deployment.idOf(service);
    const { StartedAt: started } = (await inspectContainer(id)).State;
    const logs = await logsOf(id, started);
    const [ready] = /^\S+(?=.*"msg":"(ready|control plane is up)")/m.exec(logs) ?? [];
    const seconds = (Date.parse(ready ?? '') - Date.parse(started)) / 1000;
    expect(seconds).toBeGreaterThan(0);
    const memory = await docker('stats', '--no-stream', '--format={{.MemUsage}}', id);
    print(`${service}: serves ${seconds.toFixed(2)} s after its start, ${memory} in use`);
  });
});

describe('whoever has taken over a resolver', () => {
  /** Runs a program in its container, as its user. @returns standard output and error. */
  const attack = async (...command: string[]) => {
    const { stdout, stderr } = await deployment.tryCompose('exec', '-T', 'resolver-1', ...command);
    return `${stdout}${stderr}`;
  };
  const script = (text: string) => attack('node', '--input-type=module', '--eval', text);

  it.each([
    '/app/x',
    '/usr/local/bin/x',
    '/etc/x',
    '/tmp/x',
    '/etc/weir/x',
    '/app/libs/ops/dist/x',
  ])('cannot write %s', async (file) => {
    expect(await attack('sh', '-c', `echo >${file}`)).toMatch(/Read-only file system/);
  });

  it.each([
    ['become root', 'node', '--eval', 'process.setuid(0)'],
    ['make a namespace of its own', 'unshare', '--user', '--map-root-user', 'true'],
    ['mount', 'mount', '-t', 'tmpfs', 'none', '/data'],
    ['give a file away', 'chown', '0', '/data'],
    ['make a device', 'mknod', '/data/memory', 'c', '1', '1'],
    ['change the kernel', 'sh', '-c', 'echo 1 >/proc/sys/net/ipv4/ip_forward'],
  ])('cannot %s', async (_what, ...command) => {
    expect(await attack(...command)).toMatch(
      /not permitted|Permission denied|Read-only|superuser|EPERM/i,
    );
  });

  it('sees no process of others, and no secret that a resolver does not need', async () => {
    const names = await script(`
      import { readdirSync, readFileSync } from 'node:fs';
      const pids = readdirSync('/proc').filter((name) => /^\\d+$/.test(name));
      const lines = pids.map((pid) => readFileSync('/proc/' + pid + '/cmdline', 'utf8'));
      const foreign = lines.filter((line) => !/^(node|runc)/.test(line));
      console.log(JSON.stringify({ foreign, variables: process.env }));`);
    const { foreign, variables } = JSON.parse(names) as {
      foreign: string[];
      variables: Record<string, string>;
    };
    expect(foreign).toEqual([]);
    const [hidden, known] = ['POSTGRES_PASSWORD', 'FEED_TOKENS'].map((name) => secretOf(name));
    const given = Object.values(variables).join(' ');
    expect(given).toContain(known);
    for (const secret of [
      hidden,
      ...['POSTGRES_RUNTIME_PASSWORD', 'MANAGEMENT_TOKENS', 'GRAFANA_PASSWORD'].map(secretOf),
    ]) {
      expect(given).not.toContain(secret);
    }
  });

  it('reaches neither the database, nor the engine, nor the ports that are for this machine', async () => {
    const targets = ['postgres:5432', '172.30.53.1:8080', '172.30.53.1:8081', '172.30.53.1:2375'];
    const reached = await script(`
      import { connect } from 'node:net';
      const reaches = (target) => new Promise((resolve) => {
        const [host, port] = target.split(':');
        const socket = connect({ host, port, timeout: 2000 });
        const end = (is) => () => { socket.destroy(); resolve(is ? [target] : []); };
        socket.on('connect', end(true)).on('error', end(false)).on('timeout', end(false));
      });
      const targets = ${JSON.stringify([...targets, 'control-plane:8090'])};
      console.log(JSON.stringify((await Promise.all(targets.map(reaches))).flat()));`);
    expect(JSON.parse(reached)).toEqual(['control-plane:8090']);
  });

  it('gets nothing from the management API with what it has', async () => {
    const statuses = await script(`
      const { FEED_TOKENS, OPS_TOKENS } = process.env;
      const ask = async (token) => {
        const headers = { Authorization: 'Bearer ' + token };
        return (await fetch('http://control-plane:8080/profiles/', { headers })).status;
      };
      console.log(JSON.stringify(await Promise.all([FEED_TOKENS, OPS_TOKENS].map(ask))));`);
    expect(JSON.parse(statuses)).toEqual([401, 401]);
  });

  it('cannot make Redis run or write anything, although it has its password', async () => {
    const answers = await script(`
      import { connect } from 'node:net';
      const { hostname, port, password } = new URL(process.env.REDIS_URL);
      const lines = ['AUTH ' + password, 'CONFIG SET dir /tmp', 'CONFIG SET dbfilename x.so',
        'MODULE LOAD /data/x.so', 'DEBUG SLEEP 0', 'QUIT'];
      const socket = connect(port, hostname);
      socket.write(lines.map((line) => line + '\\r\\n').join(''));
      socket.pipe(process.stdout);`);
    const [auth, ...rest] = answers.trim().split(/\r?\n/);
    expect(auth).toBe('+OK');
    expect(rest.slice(0, 4).filter((answer) => !answer.startsWith('-ERR'))).toEqual([]);
  });
});

describe('a subscriber on another machine', () => {
  it('gets the address of the block page from both resolvers at once, over UDP and TCP', async () => {
    const created = { status: 201, applied: '2/2' };
    const post = (path: string, body: unknown) => deployment.call('POST', path, body);
    expect(await post('/blockpage/', { id: 1, type: 0 })).toEqual(created);
    expect(await post('/profiles/', { profile: { id: 1, page_id: 1 } })).toEqual(created);
    expect(await post('/net/', { ip: subscriber.address, profile_id: 1 })).toEqual(created);
    const rule = { type: 'deny', domain: 'example.com' };
    expect(await post('/profile/1/bw_list', rule)).toEqual(created);
    for (const resolver of RESOLVERS) {
      expect(await subscriber.dig(resolver, 'www.example.com')).toBe(MACHINE);
      expect(await subscriber.dig(resolver, '+tcp', 'www.example.com')).toBe(MACHINE);
      expect(await subscriber.dig(resolver, 'www.example.net')).toBe(UPSTREAM_ANSWER);
    }
  });

  it('gets the block page at that address', async () => {
    const resolved = ['--resolve', `www.example.com:80:${MACHINE}`];
    const page = await subscriber.run('curl', '--silent', ...resolved, 'http://www.example.com/');
    expect(page).toContain('www.example.com');
    expect(page).toMatch(/blocked/i);
  });

  it('is distinguished from a neighbour without a profile, who gets REFUSED', async () => {
    const ask = ['dig', `@${RESOLVERS[0]}`, '+tries=1', 'www.example.com'] as const;
    expect((await neighbour.tryRun(...ask)).stdout).toContain('status: REFUSED');
  });

  it('gets the changed answer to the next query after a PATCH', async () => {
    for (const [type, answer] of [
      ['allow', UPSTREAM_ANSWER],
      ['deny', MACHINE],
    ] as const) {
      const patched = await deployment.call('PATCH', '/profile/1/bw_list/example.com', { type });
      expect(patched).toEqual({ status: 200, applied: '2/2' });
      for (const resolver of RESOLVERS) {
        expect(await subscriber.dig(resolver, 'www.example.com')).toBe(answer);
      }
    }
  });
});

describe('a deployment in operation', () => {
  it('has no zombie processes after health checks', async () => {
    await sleep(HEALTH_CHECKS_MS);
    for (const service of WEIR) {
      const { Pid: first } = (await deployment.inspect(service)).State;
      // A zombie would remain a child of process 1.
      const children = () => run('ps', ['--ppid', String(first), '-o', 'stat=']).catch(() => '');
      await expect.poll(children).toBe('');
    }
  });

  it('writes no secret to its logs', async () => {
    const logs = await deployment.compose('logs', '--no-color');
    const secrets = [...deployment.env().matchAll(/^[A-Z_]+=([0-9a-f]{32})$/gm)];
    expect(secrets.length).toBeGreaterThanOrEqual(6);
    for (const [, secret] of secrets) expect(logs).not.toContain(secret);
  });

  it.each(['control-plane', 'resolver-1', 'block-page'])(
    '%s exits with 0 in time when it is stopped',
    async (service) => {
      const startedMs = performance.now();
      await deployment.compose('stop', service);
      const seconds = secondsSince(startedMs);
      print(`docker compose stop ${service}, DRAIN_S=2: ${seconds.toFixed(1)} s`);
      const { State: state } = await deployment.inspect(service);
      expect(state).toMatchObject({ Status: 'exited', ExitCode: 0, OOMKilled: false });
      expect(seconds).toBeLessThan(STOP_S);
    },
  );

  it('starts a resolver from disk and filters when no other service runs', async () => {
    await deployment.compose('stop', 'postgres', 'redis');
    await deployment.compose('start', 'resolver-1');
    await expect.poll(() => askedBy(RESOLVERS[0])).toBe(MACHINE);
  });

  it('has all data after every container was recreated', async () => {
    await deployment.compose('up', '--detach', '--wait', '--force-recreate');
    for (const resolver of RESOLVERS) await expect.poll(() => askedBy(resolver)).toBe(MACHINE);
    // Redis ended with the resolvers, so they could not sign off: they count for MISSING_RESOLVER_S.
    const patch = () =>
      deployment.call('PATCH', '/profile/1/bw_list/example.com', { type: 'deny' });
    expect(await patch()).toEqual({ status: 200, applied: expect.stringMatching(/^2\//) });
    await expect.poll(patch, { timeout: 90_000 }).toEqual({ status: 200, applied: '2/2' });
  });

  it('has the former configuration after a backup is restored', async () => {
    const guide = readFileSync('docs/operations/install-compose.md', 'utf8');
    const [, section] = guide.split('## Back up and restore');
    const [[, dump], [, restore]] = [...section.matchAll(/^```sh\n([^]*?)^```$/gm)];
    await deployment.shell(dump);
    await deployment.call('PATCH', '/profile/1/bw_list/example.com', { type: 'allow' });
    for (const resolver of RESOLVERS) expect(await askedBy(resolver)).toBe(UPSTREAM_ANSWER);
    await deployment.shell(restore);
    for (const resolver of RESOLVERS) await expect.poll(() => askedBy(resolver)).toBe(MACHINE);
  });

  it('restarts a process that was killed', async () => {
    process.kill((await deployment.inspect('resolver-2')).State.Pid, 'SIGKILL');
    await expect.poll(async () => (await deployment.inspect('resolver-2')).RestartCount).toBe(1);
    await expect.poll(() => askedBy(RESOLVERS[1])).toBe(MACHINE);
  });
});
