import { setTimeout as sleep } from 'node:timers/promises';
import type { Deployment } from '../deployment/deployment.js';
import type { Gate } from './gate.js';
import { FIXED_PART } from './keys/fixed.js';
import { INIT_LISTS, type Key, type Step } from './keys/key.js';
import type { Reply } from '../deployment/management-client.js';
import type { Random } from '../deployment/random.js';
import type { Tally } from './tally.js';
import type { Watch } from './watch.js';

type Answer = Extract<Reply, { readonly status: number }>;

/** From one replacement of the whole configuration to the next. */
const REPLACEMENT_PAUSE_MS = [4_000, 12_000] as const;

/** Longest that a call is tried again for; no fault lasts as long. */
const DEFINITE_DEADLINE_MS = 90_000;

/** What all writers share. */
export interface WriterOptions {
  readonly deployment: Deployment;
  readonly watch: Watch;
  readonly tally: Tally;
  /** Revisions of acknowledged changes: none is given twice. */
  readonly revisions: Set<number>;
  /** What the database must hold of each key. */
  readonly stored: Map<Key, string | null>;
  /** One key changes beside the others; everything at once, alone. */
  readonly gate: Gate;
}

/** The only one to change its keys: one call after the other, each tried again until its outcome is known. */
export class Writer {
  private stopped = false;

  constructor(
    private readonly options: WriterOptions,
    private readonly keys: readonly Key[],
    private readonly random: Random,
  ) {}

  async run(): Promise<void> {
    while (!this.stopped) {
      const key = this.random.pick(this.keys);
      await this.options.gate.together(() => this.change(key));
    }
  }

  /** Replaces the whole configuration by another now and then, until `stop`. */
  async replaceNowAndThen(keys: readonly Key[]): Promise<void> {
    const random = this.random.fork('replacements');
    while (!this.stopped) {
      const untilMs = performance.now() + random.integer(...REPLACEMENT_PAUSE_MS);
      while (!this.stopped && performance.now() < untilMs) await sleep(100);
      if (!this.stopped) await this.options.gate.alone(() => this.replace(keys, random));
    }
  }

  /** After the call under way. */
  stop(): void {
    this.stopped = true;
  }

  /** Makes a step that must succeed. */
  async setUp(step: Step): Promise<void> {
    await this.perform(step, 'set-up');
  }

  private async change(key: Key): Promise<void> {
    const step = key.next(this.random);
    const version = key.history.request(step.appearance, step.refusal);
    const sentMs = performance.now();
    const answer = await this.perform(step, `${key.name}, version ${version}`);
    if (step.refusal || answer === null) return;
    await this.settle([{ key, version, stored: step.stored ?? null }], answer, sentMs);
  }

  private async replace(keys: readonly Key[], random: Random): Promise<void> {
    const restated = keys.map((key) => ({ key, ...key.restate(random) }));
    const versions = restated.map(({ key, stored, appearance }) => ({
      key,
      stored,
      version: key.history.request(appearance),
    }));
    const parts = [FIXED_PART, ...restated.map(({ part }) => part)];
    const body = Object.fromEntries(
      INIT_LISTS.map((list) => [list, parts.flatMap((part) => part[list] ?? [])]),
    );
    const step = { method: 'POST', path: '/init/', body, appearance: [] } as const;
    const sentMs = performance.now();
    const answer = await this.perform(step, 'replacement of the whole configuration');
    if (answer === null) return;
    this.options.tally.counts.replacements++;
    await this.settle(versions, answer, sentMs);
  }

  /** Notes what is in force from now on, and looks whether it is. */
  private async settle(
    versions: readonly { key: Key; version: number; stored: string | null }[],
    { applied, total, status }: Answer,
    sentMs: number,
  ): Promise<void> {
    const { watch, tally, stored } = this.options;
    for (const one of versions) {
      one.key.history.settle(one.version);
      stored.set(one.key, one.stored);
    }
    if (status >= 300) return; // found done: nobody said where
    if (applied === null || total === null) {
      tally.violation('a change was acknowledged without X-Config-Applied');
      return;
    }
    if (applied < total) tally.counts.lateResolvers++;
    else if (total === 0) tally.counts.countedOnNobody++;
    else {
      tally.counts.inForceEverywhere++;
      if (versions.length === 1) tally.latenciesMs.push(performance.now() - sentMs);
    }
    const reply = { applied, total, sentMs };
    await Promise.all(versions.map(({ key, version }) => watch.acknowledged(key, version, reply)));
  }

  /** Calls replicas at random until the outcome is definite; null when it must not be what it is. */
  private async perform(step: Step, what: string): Promise<Answer | null> {
    const { deployment, tally } = this.options;
    const deadlineMs = performance.now() + DEFINITE_DEADLINE_MS;
    const before: (number | null)[] = [];
    for (;;) {
      const reply = await this.random
        .pick(deployment.clients)
        .call(step.method, step.path, step.body);
      if (reply.status !== null && reply.status < 500) return this.judge(step, reply, before, what);
      if (before.length === 0) tally.counts.unknown++;
      before.push(reply.status);
      if (performance.now() > deadlineMs) {
        tally.violation(`the ${what} has no definite outcome: ${reply.status ?? reply.reason}`);
        return null;
      }
      await sleep(this.random.integer(20, 150));
    }
  }

  private judge(
    step: Step,
    answer: Answer,
    before: readonly (number | null)[],
    what: string,
  ): Answer | null {
    const { tally, revisions } = this.options;
    if (answer.status >= 200 && answer.status < 300) {
      if (step.refusal)
        tally.violation(`the ${what} was accepted (${answer.status}), and must be refused`);
      if (revisions.has(answer.revision))
        tally.violation(`revision ${answer.revision} was given twice`);
      revisions.add(answer.revision);
      tally.counts.acknowledged++;
      return answer;
    }
    if (step.refusal && (answer.status === 422 || answer.status === 409)) {
      tally.counts.refused++;
      return answer;
    }
    if (before.length > 0 && answer.status === step.alreadyDone) {
      tally.counts.foundDone++;
      if (before.every((status) => status === 503)) tally.counts.foundDoneAfter503++;
      return answer;
    }
    tally.violation(`the ${what} was answered ${answer.status} ${answer.text.slice(0, 200)}`);
    return null;
  }
}
