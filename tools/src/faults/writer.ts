import { setTimeout as sleep } from 'node:timers/promises';
import type { Deployment } from './deployment.js';
import type { Key, Step } from './keys.js';
import type { Reply } from './management-client.js';
import type { Random } from './random.js';
import type { Tally } from './tally.js';
import type { Watch } from './watch.js';

type Answer = Extract<Reply, { readonly status: number }>;

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
    while (!this.stopped) await this.change(this.random.pick(this.keys));
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
    const { watch, tally, stored } = this.options;
    const step = key.next(this.random);
    const version = key.history.request(step.appearance, step.refusal);
    const sentMs = performance.now();
    const answer = await this.perform(step, `${key.name}, version ${version}`);
    if (step.refusal || answer === null) return;
    key.history.settle(version);
    stored.set(key, step.stored ?? null);
    const { applied, total, status } = answer;
    if (status >= 300) return; // found done: nobody said where
    if (applied === null || total === null) {
      tally.violation(
        `the ${key.name}, version ${version}, was acknowledged without X-Config-Applied`,
      );
      return;
    }
    if (applied < total) tally.counts.lateResolvers++;
    else if (total === 0) tally.counts.countedOnNobody++;
    else {
      tally.counts.inForceEverywhere++;
      tally.latenciesMs.push(performance.now() - sentMs);
    }
    await watch.acknowledged(key, version, { applied, total, sentMs });
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
