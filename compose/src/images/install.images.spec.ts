import { readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { Deployment, UPSTREAM, UPSTREAM_ANSWER } from './testing/deployment.js';
import { docker, dockerEnvironment } from './testing/docker.js';
import { scriptOf } from './testing/page-script.js';
import { run } from './testing/run.js';
import { Subscriber } from './testing/subscriber.js';

const PAGE = 'docs/operations/install-compose.md';
/** Addresses of this machine in the commands of the page. */
const ADDRESSES = ['192.0.2.1', '192.0.2.53', '192.0.2.54'];

describe(PAGE, () => {
  let deployment: Deployment;

  beforeAll(async () => {
    for (const address of ADDRESSES)
      await run('ip', ['address', 'add', `${address}/32`, 'dev', 'lo']);
    // The environment overrides .env: the upstream is the name server of the tests.
    deployment = await Deployment.create({ ...dockerEnvironment(), UPSTREAMS: UPSTREAM });
  });
  afterAll(async () => {
    await deployment.remove();
    for (const address of ADDRESSES)
      await run('ip', ['address', 'delete', `${address}/32`, 'dev', 'lo']);
  });

  it('has commands that lead from a clone to a running service', async () => {
    const page = readFileSync(join(deployment.folder, PAGE), 'utf8');
    const [here, elsewhere] = page.split('Take the clone and the file to the other machine.');
    const output = await deployment.shell(scriptOf(here));
    expect(output).toContain(UPSTREAM_ANSWER);
    expect(statSync(join(deployment.folder, 'weir.dump')).size).toBeGreaterThan(1e4);

    await forgetImages();
    await deployment.shell(scriptOf(elsewhere));
    expect(await deployment.compose('ps', '--format', '{{.Service}} {{.Health}}')).toContain(
      'control-plane healthy',
    );
  });

  /** Removes all images, as on a new machine. */
  async function forgetImages(): Promise<void> {
    const images = await deployment.compose('config', '--images');
    await docker(
      'rmi',
      '--force',
      ...new Set(images.split('\n').filter((name) => !name.includes('upstream'))),
    );
    expect(await docker('images', '--quiet', 'weir/resolver')).toBe('');
  }
});

describe('resolvers on the network of the machine', () => {
  const V6 = '2001:db8::53';
  let deployment: Deployment;
  let subscriber: Subscriber;

  beforeAll(async () => {
    subscriber = await Subscriber.connect('subscriber', '192.0.2.10', '192.0.2.1/26');
    await subscriber.addMachineAddress('192.0.2.53');
    await subscriber.addSecondFamily('2001:db8::10', '2001:db8::1/64');
    await subscriber.addMachineAddress(V6);
    // This affects only the network namespace of the tests.
    await run('sysctl', ['-w', 'net.ipv4.ip_unprivileged_port_start=53']);
    deployment = await Deployment.create(dockerEnvironment());
    deployment.addFile('docker-compose.override.yml');
  });
  afterAll(async () => {
    await deployment.remove();
    await subscriber.disconnect();
  });

  it('see the addresses of IPv4 and IPv6 subscribers with the file of the page', async () => {
    const page = readFileSync(join(deployment.folder, PAGE), 'utf8');
    const [, file] = /^```yaml\n(# docker-compose.override.yml[\s\S]*?)^```$/m.exec(page) ?? [];
    writeFileSync(join(deployment.folder, 'docker-compose.override.yml'), file);
    await deployment.makeEnv({ BLOCK_PAGE_IPV4: '192.0.2.1' });
    await deployment.compose('up', '--detach', '--wait');
    const post = (path: string, body: unknown) => deployment.call('POST', path, body);
    const created = { status: 201, applied: '2/2' };
    expect(await post('/profiles/', { profile: { id: 1 } })).toEqual(created);
    expect(await post('/net/', { ip: '192.0.2.10', profile_id: 1 })).toEqual(created);
    expect(await post('/net6/', { ip: '2001:db8::10', profile_id: 1 })).toEqual(created);
    const rule = { type: 'deny', domain: 'example.com' };
    expect(await post('/profile/1/bw_list', rule)).toEqual(created);
    for (const server of ['192.0.2.53', V6]) {
      expect(await subscriber.dig(server, 'www.example.com')).toBe('192.0.2.1');
      expect(await subscriber.dig(server, 'www.example.net')).toBe(UPSTREAM_ANSWER);
    }
  });
});

describe('docker compose without .env', () => {
  it('fails and names a missing secret and .env.example', async () => {
    const deployment = await Deployment.create(dockerEnvironment());
    const { status, stderr } = await deployment.tryCompose('up', '--detach');
    expect(status).not.toBe(0);
    expect(stderr).toMatch(
      /required variable \w+ is missing a value: is not set, see .env.example/,
    );
    await deployment.remove();
  });
});

describe('.env.example', () => {
  it('has defaults that Compose passes on unchanged when they are set', async () => {
    const deployment = await Deployment.create(dockerEnvironment());
    await deployment.makeEnv();
    const script = `sed -i -E 's/^#([A-Z][A-Z0-9_]*=.+)/\\1/' .env`;
    await deployment.shell(script);
    const env = deployment.env();
    const { services } = JSON.parse(await deployment.compose('config', '--format', 'json')) as {
      services: Record<string, { environment?: Record<string, string> }>;
    };
    for (const [, name, , value] of env.matchAll(/^([A-Z]\w*)=('?)(.+)\2$/gm)) {
      for (const { environment } of Object.values(services)) {
        const given = environment?.[name];
        if (given !== undefined && name !== 'UPSTREAMS')
          expect([name, given]).toEqual([name, value]);
      }
    }
    expect(env).toMatch(/^BLOCK_PAGE_BRAND_COLOR='#/m);
    await deployment.remove();
  });
});
