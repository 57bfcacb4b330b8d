import { needs, needsThat } from '@weir/ops/testing';
import { HASH_KEY_HEX } from '@weir/policy-feed/testing';
import { spawn, spawnSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { run } from './programs.js';

const MAIN = fileURLToPath(new URL('../../dist/main.js', import.meta.url));
/** A network, and a user who may configure it. */
const UNSHARE = ['--map-root-user', '--net'];

/** A test with dig in a network namespace. */
export const NEEDS_NETWORK = canHaveNetwork()
  ? needs('dig')
  : needsThat(false, 'the right to create a network (unshare --net)');

function canHaveNetwork(): boolean {
  return spawnSync('unshare', [...UNSHARE, 'ip', 'link']).status === 0;
}

/** A resolver on a machine with addresses of its own: a network namespace. It never gets a configuration. */
export class OwnNetwork {
  private constructor(
    private readonly pid: number,
    readonly stop: () => Promise<void>,
  ) {}

  static async start(
    variables: Readonly<Record<string, string>>,
    addresses: readonly string[],
  ): Promise<OwnNetwork> {
    const add = addresses.map((address) => {
      const bits = address.includes(':') ? '128' : '32';
      return `ip address add ${address}/${bits} dev lo`;
    });
    const start = ['ip link set lo up', ...add, `exec '${process.execPath}' '${MAIN}'`];
    const child = spawn('unshare', [...UNSHARE, 'sh', '-e', '-c', start.join('\n')], {
      env: {
        PATH: process.env.PATH,
        DOMAIN_HASH_KEY: HASH_KEY_HEX,
        REDIS_URL: 'redis://127.0.0.1:6379',
        FEED_URL: 'http://127.0.0.1:8090',
        FEED_TOKENS: 'a-token-of-the-feed',
        UPSTREAMS: '192.0.2.1',
        ...variables,
      },
      stdio: 'ignore',
    });
    const ended = new Promise<void>((resolve) => {
      child.once('exit', () => {
        resolve();
      });
    });
    await new Promise((resolve) => child.once('spawn', resolve));
    return new OwnNetwork(child.pid!, () => {
      child.kill('SIGKILL');
      return ended;
    });
  }

  /** Runs a program in this network. @returns what it printed */
  run(name: string, ...args: string[]): Promise<string> {
    const enter = ['--target', String(this.pid), '--user', '--net', '--preserve-credentials'];
    return run('nsenter', [...enter, name, ...args]);
  }
}
