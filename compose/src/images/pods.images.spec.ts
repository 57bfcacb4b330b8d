import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import {
  type PodReport,
  type ReportedPod,
  reportPods,
} from '../../../k8s/src/pods/testing/report.js';
import { render } from '../../../k8s/src/testing/render.js';
import { ciValues } from '../../../k8s/src/testing/values.js';
import { Cluster, type PodOptions } from './testing/cluster.js';
import { UPSTREAM_ANSWER } from './testing/deployment.js';
import { run } from './testing/run.js';
import type { RunningPod } from './testing/running-pod.js';
import { Subscriber } from './testing/subscriber.js';

const BLOCK_PAGE = '192.0.2.80';
/** The name server that the example values name. */
const UPSTREAM = '192.0.2.53';
const ADDRESSES: Readonly<Record<string, string>> = {
  postgresql: '192.0.2.11',
  redis: '192.0.2.12',
  migrate: '192.0.2.13',
  'control-plane': '192.0.2.14',
  resolver: '192.0.2.15',
  'block-page': '192.0.2.16',
};
/** Name of the feed in the cluster, with the full values. */
const FEED_NAME = 'filter-control-plane-feed.dns.svc';
/** CAP_NET_BIND_SERVICE is capability 10. */
const NET_BIND_SERVICE = (1 << 10).toString(16).padStart(16, '0');

/** The pods of `k8s/weir/ci/<values>-values.yaml`. */
const renderPods = (values: string): PodReport => reportPods(render({ values: ciValues(values) }));

const podOf = ({ pods }: PodReport, component: string): ReportedPod => {
  const pod = pods.find((one) => one.component === component);
  if (pod === undefined) throw new Error(`the chart makes no pod of ${component}`);
  return pod;
};

/** A certificate for all who need one. It is its own authority. */
class Certificate {
  private constructor(readonly folder: string) {}

  static async make(): Promise<Certificate> {
    const folder = mkdtempSync(join(tmpdir(), 'weir-certificate-'));
    const files = ['-keyout', `${folder}/key.pem`, '-out', `${folder}/cert.pem`];
    const names = ['-addext', `subjectAltName=DNS:${FEED_NAME}`];
    const subject = ['-subj', '/CN=weir.example.com', '-days', '2', ...names];
    await run('openssl', ['req', '-x509', '-newkey', 'rsa:2048', '-nodes', ...files, ...subject]);
    return new Certificate(folder);
  }

  text(name: 'cert.pem' | 'key.pem'): string {
    return readFileSync(join(this.folder, name), 'utf8');
  }

  remove(): void {
    rmSync(this.folder, { recursive: true });
  }
}

/** What an operator has beside the chart: the objects that the example values only name. */
function operatorObjects(certificate: Certificate): Pick<PodReport, 'secrets' | 'configMaps'> {
  const authority = { 'ca.crt': certificate.text('cert.pem') };
  const pair = { 'tls.crt': certificate.text('cert.pem'), 'tls.key': certificate.text('key.pem') };
  const token = `- name: back-office\n  sha256: '${'0123456789abcdef'.repeat(4)}'\n  scope: write\n`;
  const catalogue = 'categories: [{ id: 1, name: Own, domains: [blocked.example] }]\n';
  return {
    secrets: {
      'management-tls': pair,
      'management-clients': authority,
      'management-tokens': { 'tokens.yaml': token },
      'feed-tls': { ...pair, ...authority },
      'feed-tokens': { tokens: 'token-of-the-feed-in-a-file\n' },
      'dns-tls': pair,
    },
    configMaps: { catalogue: { 'catalogue.yaml': catalogue } },
  };
}

/** Calls the management API with curl. @returns status and `X-Config-Applied`, such as `201 1/1`. */
function callWith(
  controlPlane: RunningPod,
  path: string,
  body: unknown,
  client: Readonly<Record<string, string>> = {},
): Promise<string> {
  const { MANAGEMENT_TLS_CERT: certificate, MANAGEMENT_TOKENS: tokens } =
    controlPlane.pod.environment;
  const scheme = certificate === undefined ? 'http' : 'https';
  const url = `${scheme}://${controlPlane.ip}:${controlPlane.portOf('management')}${path}`;
  const options = {
    ...client,
    'oauth2-bearer': tokens.split(',')[0],
    header: 'Content-Type: application/json',
    data: JSON.stringify(body),
    output: '/dev/null',
    'write-out': '%{http_code} %header{x-config-applied}',
  };
  const given = Object.entries(options).flatMap(([name, value]) => [`--${name}`, value]);
  return run('curl', ['--silent', '--insecure', ...given, url]);
}

function dig(resolver: RunningPod, ...args: string[]): Promise<string> {
  const port = `${resolver.portOf('dns-udp')}`;
  return run('dig', [`@${resolver.ip}`, '-p', port, '+short', '+tries=1', '+time=5', ...args]);
}

async function expectRights(running: RunningPod): Promise<void> {
  const status = await running.processStatus();
  const { runAsUser, runAsGroup } = running.pod.podSecurityContext;
  const mayBind = running.pod.securityContext.capabilities.add?.includes('NET_BIND_SERVICE');
  const capabilities = mayBind ? NET_BIND_SERVICE : '0'.repeat(16);
  const expected = {
    Uid: Array(4).fill(runAsUser).join('\t'),
    Gid: Array(4).fill(runAsGroup).join('\t'),
    NoNewPrivs: '1',
    // Filtered: the engine's default profile, which the chart asks for with RuntimeDefault.
    Seccomp: '2',
    CapBnd: capabilities,
    CapPrm: runAsUser === 0 ? capabilities : '0'.repeat(16),
  };
  for (const [name, value] of Object.entries(expected)) {
    expect(status, running.component).toMatch(new RegExp(`^${name}:\\s+${value}$`, 'm'));
  }
}

describe.each(['trial', 'full'])('the pods of the chart with %s values', (values) => {
  const running = new Map<string, RunningPod>();
  let cluster: Cluster;
  let rendered: PodReport;
  let options: Omit<PodOptions, 'ip'>;
  let certificate: Certificate;

  const start = async (pod: ReportedPod) => {
    const started = await cluster.start(pod, { ...options, ip: ADDRESSES[pod.component] });
    running.set(pod.component, started);
    return started;
  };
  const get = (component: string) => running.get(component)!;

  beforeAll(async () => {
    cluster = await Cluster.create(`weir-${values}`);
    await cluster.startOther('weir-test/upstream', UPSTREAM);
    rendered = renderPods(values);
    const trial = values === 'trial' ? rendered : renderPods('trial');
    certificate = await Certificate.make();
    const objects = operatorObjects(certificate);
    const { DATABASE_URL, OWNER_DATABASE_URL } = podOf(trial, 'migrate').environment;
    const { REDIS_URL } = podOf(trial, 'control-plane').environment;
    options = {
      sources: {
        secrets: { ...objects.secrets, ...trial.secrets, ...rendered.secrets },
        configMaps: { ...objects.configMaps, ...rendered.configMaps },
      },
    };
    for (const store of ['postgresql', 'redis']) await start(podOf(trial, store));
    // The full values name stores that are nowhere: those of the trial stand in for them.
    const environment = { DATABASE_URL, OWNER_DATABASE_URL, REDIS_URL };
    if (values !== 'trial') options = { ...options, environment };
  });
  afterAll(async () => {
    await cluster.remove();
    certificate.remove();
  });

  it.each(['postgresql', 'redis'])('%s becomes ready by its own probes', async (component) => {
    expect(await get(component).becomes('startup'), await get(component).logs()).toBe(true);
    expect(await get(component).becomes('readiness')).toBe(true);
  });

  it.each(['resolver', 'block-page'])(
    '%s is alive, and not ready, before there is a control plane',
    async (component) => {
      const started = await start(podOf(rendered, component));
      expect(await started.becomes('startup'), await started.logs()).toBe(true);
      expect(await started.probe('liveness')).toBe(true);
      expect(await started.probe('readiness')).toBe(false);
    },
  );

  it('migrate brings the database up to date and ends with 0', async () => {
    const job = await start(podOf(rendered, 'migrate'));
    expect(await job.exitCode(), await job.logs()).toBe(0);
  });

  it('all others become ready when the control plane runs', async () => {
    await start(podOf(rendered, 'control-plane'));
    for (const component of ['control-plane', 'resolver', 'block-page']) {
      const logs = () => get(component).logs();
      expect(await get(component).becomes('startup'), await logs()).toBe(true);
      // Readiness has no bound in a cluster; a minute is enough.
      expect(await get(component).becomes('readiness', 30), await logs()).toBe(true);
      expect(await get(component).probe('liveness')).toBe(true);
    }
  });

  it('each process has the rights that the chart gives it, and no others', async () => {
    running.delete('migrate');
    expect(running.size).toBe(5);
    for (const pod of running.values()) await expectRights(pod);
  });

  it('a change is in force on the resolver when its call returns', async () => {
    const client = {
      cert: join(certificate.folder, 'cert.pem'),
      key: join(certificate.folder, 'key.pem'),
    };
    const call = (path: string, body: unknown) =>
      callWith(get('control-plane'), path, body, client);
    expect(await call('/blockpage/', { id: 7, type: 1 })).toBe('201 1/1');
    expect(await call('/profiles/', { profile: { id: 1, page_id: 7 } })).toBe('201 1/1');
    expect(await call('/net/', { ip: Cluster.NODE, profile_id: 1 })).toBe('201 1/1');
    const rule = { type: 'deny', domain: 'example.com' };
    expect(await call('/profile/1/bw_list', rule)).toBe('201 1/1');
    const { BLOCK_PAGE_ADDRESSES: addresses } = podOf(rendered, 'resolver').environment;
    const blockPage = addresses === undefined ? BLOCK_PAGE : '192.0.2.87';
    expect(await dig(get('resolver'), 'www.example.com')).toBe(blockPage);
    expect(await dig(get('resolver'), '+tcp', 'www.example.com')).toBe(blockPage);
    expect(await dig(get('resolver'), 'www.example.net')).toBe(UPSTREAM_ANSWER);
  });

  it('the blocked visitor is shown the page of the values, or the built-in one', async () => {
    const page = get('block-page');
    const url = `http://www.example.com:${page.portOf('http')}/`;
    const there = `www.example.com:${page.portOf('http')}:${page.ip}`;
    const text = await run('curl', ['--silent', '--resolve', there, url]);
    expect(text).toMatch(values === 'full' ? /<title>www\.example\.com/ : /blocked/i);
  });

  it.each(['block-page', 'resolver', 'control-plane'])(
    '%s ends with 0 within the time that the chart gives it',
    async (component) => {
      expect(await get(component).stop()).toBe(0);
    },
  );
});

describe('the resolver of the chart on the network of its node', () => {
  let cluster: Cluster;
  let subscriber: Subscriber;
  let resolver: RunningPod;

  beforeAll(async () => {
    cluster = await Cluster.create('weir-daemonset');
    // From the node itself, the engine would replace the address that a query to the node comes from.
    subscriber = await Subscriber.connect('subscriber', '198.51.100.10', '198.51.100.1/24');
    await cluster.startOther('weir-test/upstream', UPSTREAM);
    const trial = renderPods('trial');
    const start = (component: string) =>
      cluster.start(podOf(trial, component), { ip: ADDRESSES[component], sources: trial });
    const [database] = [await start('postgresql'), await start('redis')];
    await database.becomes('readiness', 60);
    await (await start('migrate')).exitCode();
    const controlPlane = await start('control-plane');
    await controlPlane.becomes('readiness', 60);

    const redisUrl = new URL(podOf(trial, 'resolver').environment['REDIS_URL']);
    redisUrl.hostname = ADDRESSES['redis'];
    resolver = await cluster.start(podOf(renderPods('daemonset'), 'resolver'), {
      ip: Cluster.NODE,
      sources: trial,
      environment: {
        REDIS_URL: redisUrl.href,
        FEED_URL: `http://${controlPlane.ip}:${controlPlane.portOf('feed')}`,
      },
    });
    for (const [path, body] of [
      ['/profiles/', { profile: { id: 1 } }],
      ['/net/', { ip: subscriber.address, profile_id: 1 }],
      ['/profile/1/bw_list', { type: 'deny', domain: 'example.com' }],
    ] as const) {
      expect(await callWith(controlPlane, path, body)).toMatch(/^201 /);
    }
  });
  afterAll(async () => {
    await cluster.remove();
    await subscriber.disconnect();
  });

  it('becomes ready and answers on port 53 with that one capability', async () => {
    expect(await resolver.becomes('startup'), await resolver.logs()).toBe(true);
    expect(await resolver.becomes('readiness', 30), await resolver.logs()).toBe(true);
    await expectRights(resolver);
    expect(resolver.portOf('dns-udp')).toBe(53);
    expect(await subscriber.dig(resolver.ip, 'www.example.com')).toBe(BLOCK_PAGE);
  });

  it('ends with 0 within the time that the chart gives it', async () => {
    expect(await resolver.stop()).toBe(0);
  });
});
