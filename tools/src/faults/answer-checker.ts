import type { Deployment } from '../deployment/deployment.js';
import type { DnsClient } from '../deployment/dns-client.js';
import { LowerBounds } from './history.js';
import type { Key } from './keys/key.js';
import type { Random } from '../deployment/random.js';
import type { RunStats } from './run-stats.js';
import type { WeirProcess } from '../services/weir-process.js';
import { setTimeout as sleep } from 'node:timers/promises';
import { type AppliedReply, CountChecker } from './count-checker.js';

const PAUSE_BETWEEN_QUERIES_MS = 4;
/** SERVFAIL: a resolver that has no configuration yet. */
const NOT_READY = 'rcode 2';

/** Queries the resolvers and checks every answer against the versions that may be in force. */
export class AnswerChecker {
  readonly counts: CountChecker;
  private readonly bounds: LowerBounds[];
  private readonly incarnations: number[];
  private stopped = false;

  constructor(
    private readonly deployment: Deployment,
    private readonly client: DnsClient,
    private readonly stats: RunStats,
  ) {
    this.counts = new CountChecker(deployment);
    this.bounds = deployment.resolvers.map(() => new LowerBounds());
    this.incarnations = deployment.resolvers.map(() => 1);
  }

  /** Queries one resolver for random keys until `stop`. */
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

  /**
   * The database is taken back: until the end of this, answers may be of any version, and what was acknowledged
   * before counts no more. @returns a function that notes the end.
   */
  rewind(): () => void {
    const { leases, database } = this.counts;
    const endings = [leases, database].map((one) => one.begin());
    endings.push(...this.bounds.map((one) => one.rewind()));
    return () => {
      for (const end of endings) end();
    };
  }

  /** One query, unless the resolver is down. */
  async ask(resolver: number, key: Key, probe: number): Promise<void> {
    const { process } = this.at(resolver);
    if (!process.up) return;
    const [sentMs, { incarnation }] = [performance.now(), process];
    const { seen, retries, check } = await this.query(resolver, key, probe);
    const { counts } = this.stats;
    if (seen === null || process.incarnation !== incarnation) {
      if (process.up && process.disturbedAtMs < sentMs)
        this.stats.violation(`${process.name} did not answer for the ${key.name}`);
      else counts.queriesInconclusive++;
      return;
    }
    counts.queries++;
    counts.queryRetries += process.disturbedAtMs < sentMs ? retries : 0;
    check();
  }

  /** Asks a resolver without a pause while it starts. It need not answer, but never by an older version. */
  async askWhile(
    resolver: number,
    keys: readonly Key[],
    start: () => Promise<void>,
  ): Promise<void> {
    let isReady = false;
    const starting = start().finally(() => (isReady = true));
    const asking: Promise<void>[] = [];
    for (let i = 0; !isReady; i++) {
      const key = keys[i % keys.length];
      asking.push(this.askStarting(resolver, key, i % key.probes.length));
      await sleep(1);
    }
    await Promise.all([starting, ...asking]);
  }

  private async askStarting(resolver: number, key: Key, probe: number): Promise<void> {
    const { seen, check } = await this.query(resolver, key, probe);
    if (seen === null || seen === NOT_READY) return;
    this.stats.counts.queriesWhileStarting++;
    check();
  }

  /** @returns also what checks the answer by the versions that could be in force when it was asked for. */
  private async query(resolver: number, key: Key, probe: number) {
    const { process, bounds } = this.at(resolver);
    const { history } = key;
    const minVersion = bounds.minVersion(history);
    const { source, qname } = key.probes[probe];
    const outcome = await this.client.ask(source, this.deployment.dnsPorts[resolver], qname);
    const check = (): void => {
      const seen = outcome.seen ?? '';
      const version = history.earliest(minVersion, probe, seen);
      if (version === null) this.stats.violation(explain(process, key, probe, minVersion, seen));
      else bounds.noteSeen(history, version);
    };
    return { ...outcome, check };
  }

  /** A change was acknowledged: every resolver that was counted must show it, and is queried at once. */
  async acknowledged(key: Key, version: number, reply: AppliedReply): Promise<void> {
    const { violation, isLateWhileUndisturbed, having } = this.counts.judge(reply);
    if (violation !== null)
      this.stats.violation(`the ${key.name}, version ${version}, was acknowledged ${violation}`);
    if (isLateWhileUndisturbed) this.stats.counts.lateWhileUndisturbed++;
    for (const i of having) this.at(i).bounds.noteAcknowledged(key.history, version);
    this.stats.counts.queriesAfterAcknowledgement += having.length;
    await Promise.all(having.map((i) => this.ask(i, key, version % key.probes.length)));
  }

  /** Checks that a resolver shows the newest version of every key, with every probe. */
  async expectNewest(resolver: number, keys: readonly Key[]): Promise<void> {
    const { process, bounds } = this.at(resolver);
    for (const key of keys) bounds.noteAcknowledged(key.history, key.history.applied);
    await this.expectAcknowledged(resolver, keys);
    if (!process.up) this.stats.violation(`${process.name} is not up to be verified`);
  }

  /** Checks once that a resolver shows everything that it acknowledged. */
  async expectAcknowledged(resolver: number, keys: readonly Key[]): Promise<void> {
    for (const key of keys) {
      await Promise.all(key.probes.map((_, probe) => this.ask(resolver, key, probe)));
    }
  }

  private at(resolver: number): { process: WeirProcess; bounds: LowerBounds } {
    const process = this.deployment.resolvers[resolver];
    const bounds = this.bounds[resolver];
    if (this.incarnations[resolver] !== process.incarnation) {
      this.incarnations[resolver] = process.incarnation;
      bounds.restart();
    }
    return { process, bounds };
  }
}

function explain(
  process: WeirProcess,
  key: Key,
  probe: number,
  minVersion: number,
  seen: string,
): string {
  const { history, probes } = key;
  const older = history.earliest(0, probe, seen);
  const expected = history.answers(minVersion)[probe];
  const what = older === null ? 'of no version that may be in force' : `of version ${older}`;
  return (
    `${process.name} (start ${process.incarnation}) answered ${seen} for the ${key.name} (${probes[probe].qname}), ${what}; ` +
    `it must be version ${minVersion} (${expected}) or later, the newest requested is ${history.requested}`
  );
}
