/*
 * Simulates resolvers for `npm run bench:changes`: each has its own connection to Redis, receives every change,
 * acknowledges as a real one does and renews its lease. It applies nothing. It tells when all of them follow.
 */
import { DeploymentMessages } from '@weir/change-feed';
import type { Head } from '@weir/config-model';
import { randomUUID } from 'node:crypto';
import { connect } from 'node:net';
import { helperArgument, tellMain } from '../services/helper.js';

export interface SimulatedResolvers {
  readonly redisUrl: string;
  readonly deploymentId: string;
  /** Signs their messages. */
  readonly feedToken: string;
  /** What they have in force at first. */
  readonly head: Head;
  readonly count: number;
}

const HEARTBEAT_MS = 1_000;
const LEASE_MS = 3_000;
/** Longer than what stands before the revision in any message. */
const CARRIED_CHARACTERS = 400;
/** A revision and its digest, as a message of a change or a head has them. */
const POINT = /"revision":(\d+),"digest":"([0-9a-f]{16})"/;
const POINT_CHARACTERS = 60;

const order = helperArgument() as SimulatedResolvers;
const { hostname, port, password } = new URL(order.redisUrl);
const deployment = { id: order.deploymentId, tokens: () => [order.feedToken] };
const silent = { info: () => undefined, warn: () => undefined, error: () => undefined };
const { names } = new DeploymentMessages(deployment, silent);

/** A command of the protocol of Redis. */
function command(...parts: readonly string[]): string {
  const bulk = parts.map((part) => `$${Buffer.byteLength(part)}\r\n${part}\r\n`);
  return `*${parts.length}\r\n${bulk.join('')}`;
}

class SimulatedFollower {
  private readonly id = `simulated-${randomUUID()}`;
  private readonly messages = new DeploymentMessages(deployment, silent);
  private readonly socket = connect(Number(port), hostname).setNoDelay(true);
  private carried = '';
  private intervalMs = 0;
  private lastMs = -Infinity;
  private isDue = false;

  private head = order.head;

  constructor() {
    // Redis closes the connection of a subscriber that is too slow: this machine cannot simulate as many.
    this.socket.on('error', (error) => {
      process.stderr.write(`a simulated follower lost Redis: ${error.message}\n`);
      process.exit(1);
    });
    this.socket.on('data', (chunk: Buffer) => this.receive(chunk.toString('latin1')));
    // Version 3 of the protocol allows commands on a connection that is subscribed.
    this.socket.write(command('HELLO', '3', 'AUTH', 'default', decodeURIComponent(password)));
    this.socket.write(command('SUBSCRIBE', names.change, names.head));
    this.renew();
    setTimeout(() => setInterval(() => this.renew(), HEARTBEAT_MS), Math.random() * HEARTBEAT_MS);
  }

  private receive(text: string): void {
    const all = this.carried + text;
    this.carried = all.slice(-CARRIED_CHARACTERS);
    const interval = /"acknowledgementIntervalMs":(\d+),/.exec(all)?.[1];
    if (interval !== undefined) this.intervalMs = Number(interval);
    const at = all.lastIndexOf('"revision":');
    const [found, revision, digest = ''] = POINT.exec(all.slice(at, at + POINT_CHARACTERS)) ?? [];
    if (found === undefined || Number(revision) <= this.head.revision) return;
    this.head = { ...this.head, revision: Number(revision), digest };
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
    const expiry = ['PX', String(LEASE_MS)];
    this.socket.write(command('SET', names.lease(this.id), this.message(), ...expiry));
    this.publish();
  }

  private publish(): void {
    this.socket.write(command('PUBLISH', names.follower, this.message()));
  }

  private message(): string {
    const state = { id: this.id, kind: 'resolver', name: null, inForce: this.head, feedVersion: 1 };
    return this.messages.sign(names.follower, JSON.stringify(state));
  }
}

for (let i = 0; i < order.count; i++) new SimulatedFollower();
tellMain('following');
