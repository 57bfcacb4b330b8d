import { setTimeout as sleep } from 'node:timers/promises';
import { locks } from 'node:worker_threads';
import type { Answer } from '../deployment/management-client.js';
import type { Random } from '../deployment/random.js';
import type { RunContext } from './context.js';
import { type Call, FIXED_PART, INIT_LISTS, type Key, post, type Step } from './keys/key.js';

/** With the number of the one that answered. */
type ReplicaAnswer = Answer & { readonly replica: number };

/** Pause between two replacements of the whole configuration. */
const REPLACEMENT_PAUSE_MS = [4_000, 12_000] as const;

/** A call is retried for at most this long. No fault lasts as long. */
const DEFINITE_DEADLINE_MS = 90_000;

/** Changes of single keys share it; a replacement of the whole configuration holds it alone. */
const LOCK = 'configuration';

/** The only one to change its keys: one call after the other, each tried again until its outcome is known. */
export class Writer {
  private stopped = false;

  constructor(
    private readonly context: RunContext,
    private readonly keys: readonly Key[],
    private readonly random: Random,
  ) {}

  async run(): Promise<void> {
    while (!this.stopped) {
      const key = this.random.pick(this.keys);
      await locks.request(LOCK, { mode: 'shared' }, () => this.change(key));
    }
  }

  /** Replaces the whole configuration by another now and then, until `stop`. */
  async replacePeriodically(): Promise<void> {
    const random = this.random.fork('replacements');
    while (!this.stopped) {
      const untilMs = performance.now() + random.integer(...REPLACEMENT_PAUSE_MS);
      while (!this.stopped && performance.now() < untilMs) await sleep(100);
      if (!this.stopped) await locks.request(LOCK, () => this.replace(random));
    }
  }

  /**
   * Replaces the whole configuration after a step that nobody else may disturb.
   * @param step returns what is called once the replacement is acknowledged, before it is checked
   */
  async replaceAfter(step: () => Promise<() => void>): Promise<void> {
    await locks.request(LOCK, async () => {
      const ended = await step();
      await this.replace(this.random.fork('rewinds'), ended);
    });
  }

  /** After the call under way. */
  stop(): void {
    this.stopped = true;
  }

  /** Makes a call that must succeed. */
  async setUp(call: Call): Promise<void> {
    await this.perform(call, 'set-up');
  }

  private async change(key: Key): Promise<void> {
    const step = key.next(this.random);
    const version = key.history.request(step.answers, step.refusal);
    const sentMs = performance.now();
    const answer = await this.perform(step, `${key.name}, version ${version}`);
    if (step.refusal || answer === null) return;
    await this.settle([{ key, version, stored: step.stored }], answer, sentMs);
  }

  private async replace(random: Random, onAcknowledged?: () => void): Promise<void> {
    const parts = [FIXED_PART];
    const versions = this.context.keys.map((key) => {
      const { part, answers, stored } = key.replace(random);
      parts.push(part);
      return { key, stored, version: key.history.request(answers) };
    });
    const body = Object.fromEntries(
      INIT_LISTS.map((list) => [list, parts.flatMap((part) => part[list] ?? [])]),
    );
    const sentMs = performance.now();
    const answer = await this.perform(
      post('/init/', body),
      'replacement of the whole configuration',
    );
    if (answer === null) return;
    this.context.stats.counts.replacements++;
    onAcknowledged?.();
    await this.settle(versions, answer, sentMs);
  }

  /** Notes what is in force from now on, and looks whether it is. */
  private async settle(
    versions: readonly { key: Key; version: number; stored: string | null }[],
    { applied, total, status, revision, replica }: ReplicaAnswer,
    sentMs: number,
  ): Promise<void> {
    const { checker, stats, stored, acknowledged } = this.context;
    for (const one of versions) {
      one.key.history.applied = one.version;
      stored.set(one.key, one.stored);
    }
    if (status >= 300) return; // already applied: no answer says on how many resolvers
    acknowledged.set(revision, versions);
    if (applied === null || total === null) {
      stats.violation('a change was acknowledged without X-Config-Applied');
      return;
    }
    if (applied < total) stats.counts.lateResolvers++;
    else if (total === 0) stats.counts.countedOnNone++;
    else {
      stats.counts.inForceEverywhere++;
      if (versions.length === 1) stats.latenciesMs.push(performance.now() - sentMs);
    }
    const reply = { applied, total, sentMs, replica };
    await Promise.all(
      versions.map(({ key, version }) => checker.acknowledged(key, version, reply)),
    );
  }

  /** Calls random replicas until the outcome is known. @returns null when the outcome is a violation. */
  private async perform(
    call: Call & Partial<Pick<Step, 'refusal'>>,
    what: string,
  ): Promise<ReplicaAnswer | null> {
    const { deployment, stats } = this.context;
    const deadlineMs = performance.now() + DEFINITE_DEADLINE_MS;
    const before: (number | null)[] = [];
    for (;;) {
      const [replica, client] = this.random.pick([...deployment.clients.entries()]);
      const reply = await client.call(call.method, call.path, call.body);
      if (reply.status !== null && reply.status < 500)
        return this.judge(call, { ...reply, replica }, before, what);
      if (before.length === 0) stats.counts.unknown++;
      before.push(reply.status);
      if (performance.now() > deadlineMs) {
        stats.violation(`the ${what} has no definite outcome: ${reply.status ?? reply.reason}`);
        return null;
      }
      await sleep(this.random.integer(20, 150));
    }
  }

  private judge(
    { alreadyDone, refusal = false }: Partial<Pick<Step, 'alreadyDone' | 'refusal'>>,
    answer: ReplicaAnswer,
    before: readonly (number | null)[],
    what: string,
  ): ReplicaAnswer | null {
    const { stats, acknowledged } = this.context;
    if (answer.status >= 200 && answer.status < 300) {
      if (refusal)
        stats.violation(`the ${what} was accepted (${answer.status}), and must be refused`);
      if (acknowledged.has(answer.revision))
        stats.violation(`revision ${answer.revision} was given twice`);
      acknowledged.set(answer.revision, []);
      stats.counts.acknowledged++;
      return answer;
    }
    if (refusal && (answer.status === 422 || answer.status === 409)) {
      stats.counts.refused++;
      return answer;
    }
    if (before.length > 0 && answer.status === alreadyDone) {
      stats.counts.foundApplied++;
      if (before.every((status) => status === 503))
        stats.violation(`the ${what} was made, although each answer was 503`);
      return answer;
    }
    stats.violation(`the ${what} was answered ${answer.status} ${answer.text.slice(0, 200)}`);
    return null;
  }
}
