import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { Deployment, UPSTREAM_ANSWER } from './testing/deployment.js';
import { dockerEnvironment } from './testing/docker.js';
import { Subscriber } from './testing/subscriber.js';

const MACHINE = '192.0.2.1';
const BALANCER = '192.0.2.55';
const PROCESSES = ['block-page', 'control-plane', 'resolver-1', 'resolver-2'];
/** A stop takes seconds, a query takes milliseconds. */
const MANY = 20;

interface Targets {
  readonly data: {
    readonly activeTargets: readonly { labels: { instance: string }; health: string }[];
  };
}

interface Rules {
  readonly data: { readonly groups: readonly { readonly name: string }[] };
}

let deployment: Deployment;
let subscriber: Subscriber;
let neighbour: Subscriber;

beforeAll(async () => {
  subscriber = await Subscriber.connect('subscriber', '192.0.2.10', `${MACHINE}/26`);
  neighbour = await Subscriber.connect('neighbour', '192.0.2.70', '192.0.2.65/26');
  await subscriber.addMachineAddress(BALANCER);
  deployment = await Deployment.create(dockerEnvironment());
  await deployment.makeEnv({ BALANCER_LISTEN: `${BALANCER}:53`, BLOCK_PAGE_IPV4: MACHINE });
  await deployment.compose('up', '--detach', '--wait');
  await deployment.call('POST', '/profiles/', { profile: { id: 1 } });
  await deployment.call('POST', '/net/', { ip: subscriber.address, profile_id: 1 });
  await deployment.call('POST', '/profile/1/bw_list', { type: 'deny', domain: 'example.com' });
});

afterAll(async () => {
  await deployment.remove();
  await subscriber.disconnect();
  await neighbour.disconnect();
});

describe('profile balancer', () => {
  const ask = (...args: string[]) => subscriber.dig(BALANCER, ...args).catch(() => '');

  it('puts one address in front of both resolvers, which still see each subscriber', async () => {
    await deployment.compose('--profile', 'balancer', 'up', '--detach', '--wait', 'balancer');
    await expect.poll(() => ask('www.example.com')).toBe(MACHINE);
    expect(await ask('+tcp', 'www.example.com')).toBe(MACHINE);
    expect(await ask('www.example.net')).toBe(UPSTREAM_ANSWER);
    const { stdout } = await neighbour.tryRun('dig', `@${BALANCER}`, '+tries=1', 'www.example.com');
    expect(stdout).toContain('status: REFUSED');
  });

  it('sends no query to a stopping resolver, so that none is lost', async () => {
    let isStopped = false;
    const stopped = deployment.compose('stop', 'resolver-1').then(() => (isStopped = true));
    let answered = 0;
    while (!isStopped) {
      expect(await ask('www.example.com')).toBe(MACHINE);
      answered++;
    }
    await stopped;
    expect(answered).toBeGreaterThan(MANY);
    expect(await ask('www.example.com')).toBe(MACHINE);
    await deployment.compose('start', 'resolver-1');
  });
});

describe('profile monitoring', () => {
  it('lets Prometheus scrape every process', async () => {
    await deployment.compose('--profile', 'monitoring', 'up', '--detach', '--wait', 'prometheus');
    const up = PROCESSES.map((name) => `${name}:9090 up`);
    await expect.poll(targets).toEqual(up);
    const { data } = (await prometheus('rules')) as Rules;
    expect(data.groups.map(({ name }) => name)).toContain('weir-processes');
  });
});

async function prometheus(what: string): Promise<unknown> {
  const response = await fetch(`http://127.0.0.1:9091/api/v1/${what}`);
  return response.json();
}

async function targets(): Promise<string[]> {
  const { data } = (await prometheus('targets')) as Targets;
  return data.activeTargets.map(({ labels, health }) => `${labels.instance} ${health}`).sort();
}
