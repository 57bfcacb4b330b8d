import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { integer, list, optionsOrExit, print, value } from '../command.js';
import type { Deployment } from '../deployment/deployment.js';
import { cpuMs } from '../services/usage.js';
import { withDeployment } from './deployment.js';
import { describeLoad, describeMachine, measureLatencies, summarise } from './figures.js';
import { initBody } from './init-body.js';

interface RawAnswer {
  readonly status: number;
  /** The header `X-Config-Applied`; empty if there is none. */
  readonly applied: string;
}

/**
 * One client of the management API on one connection, one request at a time. It does so little that many of them take
 * little of the processor that they share with what is measured.
 */
class RawClient {
  private readonly socket: Socket;
  private received = '';
  private waiting: ((answer: RawAnswer) => void) | null = null;

  constructor(
    port: number,
    private readonly token: string,
  ) {
    this.socket = connect(port, '127.0.0.1').setNoDelay(true);
    this.socket.setEncoding('latin1').on('data', (text: string) => this.receive(text));
  }

  /** @throws Error when the status is not 2xx. */
  async send(method: string, path: string, body: unknown): Promise<RawAnswer> {
    const text = JSON.stringify(body);
    this.socket.write(
      `${method} ${path} HTTP/1.1\r\nHost: bench\r\nAuthorization: Bearer ${this.token}\r\n` +
        `Content-Type: application/json\r\nContent-Length: ${Buffer.byteLength(text)}\r\n\r\n${text}`,
    );
    const answer = await new Promise<RawAnswer>((resolve) => {
      this.waiting = resolve;
    });
    if (answer.status >= 300) throw new Error(`${method} ${path} was answered ${answer.status}`);
    return answer;
  }

  close(): void {
    this.socket.destroy();
  }

  private receive(text: string): void {
    this.received += text;
    const end = this.received.indexOf('\r\n\r\n');
    if (end < 0) return;
    const length = Number(/\r\ncontent-length: (\d+)/i.exec(this.received)?.[1] ?? 0);
    if (this.received.length < end + 4 + length) return;
    const applied = /\r\nx-config-applied: (\S+)/i.exec(this.received)?.[1] ?? '';
    const answer = { status: Number(this.received.slice(9, 12)), applied };
    this.received = '';
    this.waiting?.(answer);
  }
}

const NETWORKS = 100_000;
const SIZE = { networks: NETWORKS, profiles: 1_000, domains: 10_000, portRanges: 1_000 };
const WARM_UP_MS = 3_000;
/** Until every simulated resolver has published its state. */
const SETTLE_MS = 2_500;

const HELP = `npm run bench:changes -- [--clients 1,64] [--rate N] [--seconds 10] [--replicas 1] [--resolvers 3]

Measures single changes of networks. It starts PostgreSQL, Redis, the control planes and simulated resolvers.
clients: numbers of clients, separated by commas; one after the other. Each client waits for its answer before its next
  change; the clients are spread over the control planes
rate: instead of as many changes as the clients can make, so many a second of all clients together
seconds: for each number of clients
replicas: control planes
resolvers: 1000 with --clients 64 --rate 100 shows what a large fleet costs
CONTROL_PLANE_FLAGS are given to the control planes' Node, for example --cpu-prof.`;

const { clients, rate, seconds, replicas, resolvers } = optionsOrExit(HELP, {
  clients: value(list(integer(1, 10_000)), [1, 64]),
  rate: value(integer(1, 100_000), Infinity),
  seconds: value(integer(1, 3_600), 10),
  replicas: value(integer(1, 20), 1),
  resolvers: value(integer(1, 100_000), 3),
});
const PROGRAM = fileURLToPath(new URL('simulated-resolvers.js', import.meta.url));
const flags = { NODE_OPTIONS: process.env['CONTROL_PLANE_FLAGS'] ?? '' };

await withDeployment({ replicas, replicaVariables: () => flags }, async (deployment, client) => {
  await client.upload('POST', '/init/', initBody(SIZE, 0));
  const { redisUrl, secrets } = deployment;
  const simulated = spawn(process.execPath, [PROGRAM, redisUrl, String(resolvers)], {
    env: { ...process.env, FEED_TOKENS: secrets.feedToken },
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  try {
    await once(simulated.stdout, 'data');
    await sleep(SETTLE_MS);
    print(describeMachine());
    for (const count of clients) await measure(deployment, count);
  } finally {
    simulated.kill('SIGKILL');
  }
});

async function measure(deployment: Deployment, count: number): Promise<void> {
  const { managementPorts, secrets } = deployment;
  const connections = Array.from(
    { length: count },
    (_, i) => new RawClient(managementPorts[i % replicas] ?? 0, secrets.token),
  );
  let n = 0;
  let incomplete = 0;
  const change = async (connection: RawClient): Promise<void> => {
    const at = n++;
    const address = 0x0a00_0000 + (at % NETWORKS) * 4;
    const body = { profile_id: (at * 7) % SIZE.profiles };
    const { applied } = await connection.send('PATCH', `/net/${address}`, body);
    if (applied !== `${resolvers}/${resolvers}`) incomplete++;
  };
  const runFor = async (ms: number): Promise<number[]> => {
    const startedMs = performance.now();
    const endMs = startedMs + ms;
    let begun = 0;
    const each = connections.map((connection) =>
      measureLatencies(
        () => change(connection),
        async () => {
          const dueMs = startedMs + (begun++ * 1_000) / rate;
          if (dueMs > performance.now()) await sleep(dueMs - performance.now());
          return performance.now() < endMs;
        },
      ),
    );
    return (await Promise.all(each)).flat();
  };
  await runFor(WARM_UP_MS);
  incomplete = 0;
  const cpu = (): [number, number] => [
    deployment.replicas.reduce((sum, { pid }) => sum + cpuMs(pid), 0),
    cpuMs(deployment.redis.pid),
  ];
  const [before, startedMs] = [cpu(), performance.now()];
  const latencies = await runFor(seconds * 1_000);
  const tookMs = performance.now() - startedMs;
  const [planesMs, redisMs] = cpu().map((ms, i) => ms - (before[i] ?? 0));
  const share = (ms = 0): string => `${((100 * ms) / tookMs).toFixed(0)} %`;
  print(
    `PATCH /net/{int_ip}, ${count} clients, ${replicas} control planes, ` +
      `${resolvers} resolvers: ${((latencies.length * 1_000) / tookMs).toFixed(0)}/s, ` +
      `${summarise(latencies)}, not in force everywhere ${incomplete}; CPU of the control planes ` +
      `${((planesMs ?? 0) / latencies.length).toFixed(2)} ms a change, ${share(planesMs)} of a core, ` +
      `Redis ${share(redisMs)} (${describeLoad()})`,
  );
  for (const connection of connections) connection.close();
}
