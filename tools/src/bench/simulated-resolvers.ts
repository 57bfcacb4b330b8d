/*
 * Simulates resolvers for `npm run bench:changes`: each has its own connection to Redis, receives every change,
 * acknowledges as a real one does and renews its lease. It applies nothing.
 *
 * Arguments: URL of Redis, number of followers. FEED_TOKENS signs their messages. It prints a line when all of them
 * follow.
 */
import { messageKey, MessageSigner } from '@weir/change-feed';
import { randomUUID } from 'node:crypto';
import { connect, type Socket } from 'node:net';

const HEARTBEAT_MS = 1_000;
const LEASE_MS = 3_000;
/** Longer than what stands before the revision in any message. */
const CARRIED_CHARACTERS = 400;

const [redisUrl = '', count = '0'] = process.argv.slice(2);
const { hostname, port, password } = new URL(redisUrl);
const key = messageKey(process.env['FEED_TOKENS'] ?? '');

/** A command of the protocol of Redis. */
function command(...parts: readonly string[]): string {
  const bulk = parts.map((part) => `$${Buffer.byteLength(part)}\r\n${part}\r\n`);
  return `*${parts.length}\r\n${bulk.join('')}`;
}

function openConnection(onText: (text: string) => void): Socket {
  const socket = connect(Number(port), hostname).setNoDelay(true);
  // Redis closes the connection of a subscriber that is too slow: this machine cannot simulate as many.
  socket.on('error', (error) => {
    process.stderr.write(`a simulated follower lost Redis: ${error.message}\n`);
    process.exit(1);
  });
  // Version 3 of the protocol allows commands on a connection that is subscribed.
  socket.write(command('HELLO', '3', 'AUTH', 'default', decodeURIComponent(password)));
  socket.on('data', (chunk: Buffer) => onText(chunk.toString('latin1')));
  return socket;
}

interface Point {
  readonly revision: number;
  readonly digest: string;
}

/** Names and values of the deployment, from the first head that is published. */
interface Deployment {
  readonly prefix: string;
  readonly lineage: string;
  readonly point: Point;
}

/** A revision and its digest, as a message of a change or a head has them. */
const POINT = /"revision":(\d+),"digest":"([0-9a-f]{16})"/;
const POINT_CHARACTERS = 60;

function pointOf(text: string): Point | null {
  const [found, revision, digest = ''] = POINT.exec(text) ?? [];
  return found === undefined ? null : { revision: Number(revision), digest };
}

function findDeployment(): Promise<Deployment> {
  return new Promise((resolve) => {
    let seen = '';
    const socket = openConnection((text) => {
      seen += text;
      const prefix = /(weir:[0-9a-f]{16}):head/.exec(seen)?.[1];
      const lineage = /"lineage":"([^"]+)"/.exec(seen)?.[1];
      const point = pointOf(seen);
      if (prefix === undefined || lineage === undefined || point === null) return;
      socket.destroy();
      resolve({ prefix, lineage, point });
    });
    socket.write(command('PSUBSCRIBE', 'weir:*:head'));
  });
}

class SimulatedFollower {
  private readonly id = `simulated-${randomUUID()}`;
  private readonly signer = new MessageSigner(() => key, Date.now);
  private readonly socket: Socket;
  private carried = '';
  private intervalMs = 0;
  private lastMs = -Infinity;
  private isDue = false;

  constructor(
    private readonly deployment: Deployment,
    private point: Point = deployment.point,
  ) {
    this.socket = openConnection((text) => this.receive(text));
    const { prefix } = deployment;
    this.socket.write(command('SUBSCRIBE', `${prefix}:change`, `${prefix}:head`));
    this.renew();
    setTimeout(() => setInterval(() => this.renew(), HEARTBEAT_MS), Math.random() * HEARTBEAT_MS);
  }

  private receive(text: string): void {
    const all = this.carried + text;
    this.carried = all.slice(-CARRIED_CHARACTERS);
    const interval = /"acknowledgementIntervalMs":(\d+),/.exec(all)?.[1];
    if (interval !== undefined) this.intervalMs = Number(interval);
    const at = all.lastIndexOf('"revision":');
    const point = at < 0 ? null : pointOf(all.slice(at, at + POINT_CHARACTERS));
    if (point === null || point.revision <= this.point.revision) return;
    this.point = point;
    this.acknowledgeSoon();
  }

  private acknowledgeSoon(): void {
    if (this.isDue) return;
    this.isDue = true;
    const waitMs = this.lastMs + this.intervalMs - performance.now();
    const acknowledge = (): void => {
      this.isDue = false;
      this.lastMs = performance.now();
      this.publish();
    };
    if (waitMs <= 0) setImmediate(acknowledge);
    else setTimeout(acknowledge, waitMs);
  }

  private renew(): void {
    const lease = `${this.deployment.prefix}:lease:${this.id}`;
    this.socket.write(command('SET', lease, this.message(), 'PX', String(LEASE_MS)));
    this.publish();
  }

  private publish(): void {
    this.socket.write(command('PUBLISH', `${this.deployment.prefix}:follower`, this.message()));
  }

  private message(): string {
    const inForce = { lineage: this.deployment.lineage, ...this.point };
    const state = { id: this.id, kind: 'resolver', name: null, inForce, feedVersion: 1 };
    return this.signer.sign(`${this.deployment.prefix}:follower`, JSON.stringify(state));
  }
}

const deployment = await findDeployment();
for (let i = 0; i < Number(count); i++) new SimulatedFollower(deployment);
process.stdout.write('following\n');
