import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { PROCESS_SCHEMAS } from '../settings.js';
import { docker, inspectContainer, tryDocker } from './testing/docker.js';
import { outcomeOf, run } from './testing/run.js';

const { version } = JSON.parse(
  readFileSync(new URL('../../../package.json', import.meta.url), 'utf8'),
) as { version: string };
/** Address and port on which nothing listens. */
const UNUSED_ADDRESS = '127.0.0.1:1025';
const SETTINGS = {
  DATABASE_URL: `postgresql://weir:password@${UNUSED_ADDRESS}/weir`,
  REDIS_URL: `redis://${UNUSED_ADDRESS}`,
  FEED_URL: `http://${UNUSED_ADDRESS}`,
  FEED_TOKENS: '0123456789abcdef',
  MANAGEMENT_TOKENS: '0123456789abcdef',
  DOMAIN_HASH_KEY: '00112233445566778899aabbccddeeff',
  UPSTREAMS: '192.0.2.1',
};
const HARDENED = ['--read-only', '--cap-drop=ALL', '--security-opt=no-new-privileges'];
const environment = Object.entries(SETTINGS).map(([name, value]) => `--env=${name}=${value}`);
const required: Readonly<Record<string, readonly string[]>> = {
  migrate: ['DATABASE_URL'],
  'control-plane': [
    'DATABASE_URL',
    'REDIS_URL',
    'MANAGEMENT_TOKENS',
    'DOMAIN_HASH_KEY',
    'FEED_TOKENS',
  ],
  resolver: ['REDIS_URL', 'FEED_URL', 'DOMAIN_HASH_KEY', 'FEED_TOKENS'],
  'block-page': ['REDIS_URL', 'FEED_URL', 'DOMAIN_HASH_KEY', 'FEED_TOKENS'],
};

describe.each(Object.keys(required))('%s in its image', (target) => {
  const image = `weir/${target}:${version}`;
  const tryRun = (options: readonly string[], ...args: string[]) =>
    tryDocker('run', '--rm', ...HARDENED, ...options, image, ...args);

  it('prints its variables with --help', async () => {
    const startedMs = performance.now();
    const { status, stdout } = await tryRun([], '--help');
    process.stdout.write(
      `${image} --help: ${(performance.now() - startedMs).toFixed(0)} ms from start to end of the container\n`,
    );
    expect(status).toBe(0);
    for (const name of Object.keys(PROCESS_SCHEMAS[target])) {
      expect(stdout).toContain(`  ${name}\n`);
    }
  });

  it('names each missing variable', async () => {
    const { status, stderr } = await tryRun([], '--check');
    expect(status).toBe(1);
    for (const name of required[target]) expect(stderr).toContain(`${name} is required`);
    expect(stderr.trim().split('\n')).toHaveLength(required[target].length);
  });

  it('accepts its defaults together with the required variables', async () => {
    expect(await tryRun(environment, '--check')).toEqual({ status: 0, stdout: '', stderr: '' });
  });

  it('prints its version and its commit with --version', async () => {
    const { status, stdout } = await tryRun(['--env=WEIR_COMMIT=0123abc'], '--version');
    expect([status, stdout]).toEqual([0, `${target} ${version} (0123abc)\n`]);
  });

  it('runs as any user id', async () => {
    const { status } = await tryRun(['--user=1234567:0', ...environment], '--check');
    expect(status).toBe(0);
  });
});

describe('a process as process 1 of its container', () => {
  const start = (target: string, ...options: string[]) =>
    docker('run', '--detach', ...HARDENED, ...environment, ...options, `weir/${target}:${version}`);
  const stateOf = async (id: string) => (await inspectContainer(id)).State;

  it.each(['resolver', 'block-page', 'control-plane'])(
    '%s exits with 0 on SIGTERM when it can reach no other service',
    async (target) => {
      const id = await start(target, '--env=DRAIN_S=0');
      await expect.poll(() => docker('logs', id)).not.toBe('');
      await docker('stop', '--time=30', id);
      expect(await stateOf(id)).toMatchObject({ ExitCode: 0, OOMKilled: false });
      await docker('rm', '--volumes', id);
    },
  );

  it('passes the health check of the image, and is not ready, without a configuration', async () => {
    const id = await start('resolver');
    await expect.poll(async () => (await stateOf(id)).Health?.Status).toBe('healthy');
    const check = ['exec', id, 'node', 'libs/ops/dist/call/main.js', '/readyz'];
    const { status, stdout } = await tryDocker(...check);
    expect([status, stdout]).toEqual([1, expect.stringMatching(/./)]);
    await docker('rm', '--force', '--volumes', id);
  });

  it('names the port that it may not bind, and binds it when the system allows that to everybody', async () => {
    const port53 = ['--network=host', '--env=DNS_PORT=53', '--env=DNS_HOST=127.0.0.53'];
    // This affects only the network namespace of the tests.
    const firstForAll = (port: number) =>
      run('sysctl', ['-w', `net.ipv4.ip_unprivileged_port_start=${port}`]);
    await firstForAll(1024);
    const refused = await start('resolver', ...port53);
    expect(await docker('wait', refused)).toBe('1');
    const { stderr } = await tryDocker('logs', refused);
    expect(stderr).toContain('127.0.0.53:53 may not be used by this user (DNS_PORT)');

    await firstForAll(53);
    const allowed = await start('resolver', ...port53);
    const ask = async () =>
      (await outcomeOf('dig', ['@127.0.0.53', '+tries=1', 'example.com'])).stdout;
    await expect.poll(ask).toContain('status: SERVFAIL');
    await docker('rm', '--force', '--volumes', refused, allowed);
  });
});

describe('podman', () => {
  it('runs the images', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'weir-podman-'));
    const own = [`--root=${folder}/root`, `--runroot=${folder}/run`, `--tmpdir=${folder}/tmp`];
    const podman = (...args: string[]) =>
      run('podman', [...own, '--runtime=runc', '--cgroup-manager=cgroupfs', ...args]);
    const image = `weir/resolver:${version}`;
    await docker('save', '--output', `${folder}/image.tar`, image);
    const loaded = /^Loaded image: (\S+)$/m.exec(
      await podman('load', '--input', `${folder}/image.tar`),
    );
    // A limit that this machine allows. By default podman requests the highest limit.
    const limits = ['--ulimit=nofile=1024:1024', '--ulimit=nproc=1024:1024'];
    const options = ['--rm', '--network=none', ...limits, ...HARDENED, ...environment];
    expect(await podman('run', ...options, loaded![1], '--help')).toContain('DNS_PORT');
    await podman('rmi', '--all', '--force');
    rmSync(folder, { recursive: true, force: true });
  });
});
