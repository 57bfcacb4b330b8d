import type { Deployment } from '../deployment/deployment.js';
import type { DnsClient } from '../deployment/dns-client.js';
import { Witness } from './history.js';
import type { Key } from './keys/key.js';
import type { Random } from '../deployment/random.js';
import type { Tally } from './tally.js';
import type { WeirProcess } from '../deployment/weir-process.js';
import { setTimeout as sleep } from 'node:timers/promises';

/** A resolver undisturbed for this long has its lease with every replica: longer than a lease and a heartbeat. */
const STEADY_MS = 5_000;
const PAUSE_BETWEEN_QUERIES_MS = 4;

/** Asks the resolvers, and holds every answer against what may be in force. */
export class Watch {
  /**
   * Faults under way that touch Redis or its messages, and when the last of them ended: leases may be missed for a
   * while.
   */
  private disturbances = 0;
  private disturbedAtMs = 0;
  private readonly witnesses: Witness[];
  private readonly incarnations: number[];
  private stopped = false;

  constructor(
    private readonly deployment: Deployment,
    private readonly client: DnsClient,
    private readonly tally: Tally,
  ) {
    this.witnesses = deployment.resolvers.map(() => new Witness());
    this.incarnations = deployment.resolvers.map(() => 1);
  }

  /** Queries one resolver after the other key at random, until `stop`. */
  async follow(resolver: number, keys: readonly Key[], random: Random): Promise<void> {
    while (!this.stopped) {
      const key = random.pick(keys);
      await this.ask(resolver, key, random.integer(0, key.probes.length - 1));
      await sleep(PAUSE_BETWEEN_QUERIES_MS);
    }
  }

  stop(): void {
    this.stopped = true;
  }

  /** Says that Redis or its messages are being tampered with, until the function that it answers is called. */
  disturb(): () => void {
    this.disturbances++;
    return () => {
      this.disturbances--;
      this.disturbedAtMs = performance.now();
    };
  }

  /** One query, unless the resolver is down. */
  async ask(resolver: number, key: Key, probe: number): Promise<void> {
    const { process, port, witness } = this.at(resolver);
    const asked = key.probes[probe];
    if (!process.up || asked === undefined) return;
    const [sentMs, incarnation, floor] = [
      performance.now(),
      process.incarnation,
      witness.floor(key.history),
    ];
    const { seen, retries } = await this.client.ask(asked.source, port, asked.qname);
    if (seen === null || process.incarnation !== incarnation) {
      if (process.up && process.disturbedAtMs < sentMs)
        this.tally.violation(`${process.name} did not answer for the ${key.name}`);
      else this.tally.counts.queriesSetAside++;
      return;
    }
    this.tally.counts.queries++;
    this.tally.counts.queryRetries += process.disturbedAtMs < sentMs ? retries : 0;
    const version = key.history.earliest(floor, probe, seen);
    if (version === null) this.tally.violation(explain(process, key, probe, floor, seen));
    else witness.show(key.history, version);
  }

  /** A change was acknowledged: whoever was counted owes it, and is asked at once. */
  async acknowledged(
    key: Key,
    version: number,
    reply: { applied: number; total: number; sentMs: number },
  ): Promise<void> {
    const { resolvers } = this.deployment;
    const nowMs = performance.now();
    const isCalm = this.disturbances === 0 && reply.sentMs - this.disturbedAtMs > STEADY_MS;
    const steady = resolvers
      .map((process, i) => ({ process, i }))
      .filter(({ process }) => process.upForMs(nowMs) > nowMs - reply.sentMs + STEADY_MS);
    if (isCalm && reply.total < steady.length) {
      this.tally.violation(
        `the ${key.name}, version ${version}, was acknowledged ${reply.applied}/${reply.total} while ${steady.length} resolvers were live`,
      );
    }
    if (isCalm && steady.length === resolvers.length && reply.applied < reply.total)
      this.tally.counts.lateInCalm++;
    const isCertain =
      isCalm || (steady.length === resolvers.length && reply.applied === resolvers.length);
    if (reply.applied !== reply.total || !isCertain) return;
    for (const { i } of steady) this.at(i).witness.owe(key.history, version);
    this.tally.counts.queriesAfterAcknowledgement += steady.length;
    await Promise.all(steady.map(({ i }) => this.ask(i, key, version % key.probes.length)));
  }

  /** Whether a resolver shows the newest version of every key, by every probe. */
  async expectNewest(resolver: number, keys: readonly Key[]): Promise<void> {
    const { process, witness } = this.at(resolver);
    for (const key of keys) {
      witness.owe(key.history, key.history.applied);
      await Promise.all(key.probes.map((_, probe) => this.ask(resolver, key, probe)));
      if (!process.up) this.tally.violation(`${process.name} is not up to be verified`);
    }
  }

  /** Everything that the resolver owes, asked for once. */
  async expectOwed(resolver: number, keys: readonly Key[]): Promise<void> {
    for (const key of keys) {
      await Promise.all(key.probes.map((_, probe) => this.ask(resolver, key, probe)));
    }
  }

  private at(resolver: number): { process: WeirProcess; port: number; witness: Witness } {
    const process = this.deployment.resolvers[resolver];
    const port = this.deployment.dnsPorts[resolver];
    const witness = this.witnesses[resolver];
    if (!process || !witness || port === undefined) throw new RangeError('no such resolver');
    if (this.incarnations[resolver] !== process.incarnation) {
      this.incarnations[resolver] = process.incarnation;
      witness.restart();
    }
    return { process, port, witness };
  }
}

function explain(
  process: WeirProcess,
  key: Key,
  probe: number,
  floor: number,
  seen: string,
): string {
  const { history, probes } = key;
  const older = history.earliest(0, probe, seen);
  const expected = history.appearance(floor)[probe] ?? '';
  const what = older === null ? 'of no version that may be in force' : `of version ${older}`;
  return (
    `${process.name} (start ${process.incarnation}) answered ${seen} for the ${key.name} (${probes[probe]?.qname ?? ''}), ${what}; ` +
    `owed was version ${floor} (${expected}) or later, asked for were ${history.requested}`
  );
}
