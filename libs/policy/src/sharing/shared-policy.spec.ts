import { RuleVerdict } from '@weir/config-model';
import { hashDomain } from '@weir/dns-name';
import { once } from 'node:events';
import { MessageChannel, Worker } from 'node:worker_threads';
import { afterEach, describe, expect, it } from 'vitest';
import { ChunkMemory } from '../memory/chunk-memory.js';
import { Policy } from '../policy.js';
import {
  addressOf,
  CLIENT,
  firstNetwork,
  firstRule,
  isDenied,
  PROFILE,
  ruleName,
  RULES_EACH,
} from '../testing/changing-world.js';
import { KEY, profile } from '../testing/fixtures.js';
import { type PolicyMessage, SharedPolicyWriter } from './shared-policy-writer.js';
import { SharedPolicy } from './shared-policy.js';
import type { ReaderReport, ReaderTask } from '../testing/reader-worker.js';

const KEY_TEXT = '000102030405060708090a0b0c0d0e0f';
const ACKNOWLEDGED = 0;
const STOP = 1;
/** No reader is away for so long, however busy the machine is. */
const PATIENCE_NAPS = 30_000;
/** With a thousand, it would rarely meet a change that is sent a moment too late. */
const REVISIONS = 4000;
const SWAP_EVERY = 700;
const FORK_EVERY = 7;

type RuleRow = [profileId: number, domainHash: number, verdict: RuleVerdict];

function ruleRows(rule: number): RuleRow[] {
  return Array.from({ length: RULES_EACH }, (_, i) => [
    PROFILE,
    hashDomain(ruleName(rule, i), KEY),
    RuleVerdict.deny,
  ]);
}

function both(revision: number): RuleRow[] {
  const verdict = isDenied(revision) ? RuleVerdict.deny : RuleVerdict.allow;
  return ['left.example', 'right.example'].map((name) => [PROFILE, hashDomain(name, KEY), verdict]);
}

const networkRow = (network: number): number[] => [addressOf(network), 32, PROFILE];

/** The world at a revision, built at once. */
function build(revision: number, memory?: ChunkMemory): Policy {
  const policy = new Policy({ timeZone: 'UTC', memory });
  policy.put({ type: 'put', kind: 'profile', entity: profile(PROFILE) });
  policy.load('ipv4Network', [[CLIENT, 32, PROFILE]]);
  policy.load('domainRule', both(revision));
  for (let rule = firstRule(revision); rule <= revision; rule++) {
    policy.load('domainRule', ruleRows(rule));
  }
  for (let network = firstNetwork(revision); network <= revision; network++) {
    policy.load('ipv4Network', [networkRow(network)]);
  }
  policy.setRevision(revision);
  return policy;
}

/** Brings the world from the revision before to this one. */
function advance(policy: Policy, revision: number): void {
  const operations = [];
  for (let rule = firstRule(revision - 1); rule < firstRule(revision); rule++) {
    for (const [profileId, domainHash] of ruleRows(rule)) {
      const key = { profileId, domainHash };
      operations.push({ type: 'delete', kind: 'domainRule', key } as const);
    }
  }
  for (let network = firstNetwork(revision - 1); network < firstNetwork(revision); network++) {
    const key = { address: addressOf(network), prefixLength: 32 };
    operations.push({ type: 'delete', kind: 'ipv4Network', key } as const);
  }
  policy.apply({ revision, digest: '', operations });
  policy.load('domainRule', both(revision));
  policy.load('domainRule', ruleRows(revision));
  policy.load('ipv4Network', [networkRow(revision)]);
}

class ReaderThread {
  readonly worker: Worker;
  private readonly channel = new MessageChannel();

  constructor(writer: SharedPolicyWriter, reader: number, words: Int32Array, hangs = false) {
    const { port1, port2 } = this.channel;
    const invitation = writer.connect(reader, (message) => port1.postMessage(message));
    const workerData: ReaderTask = { invitation, port: port2, words, key: KEY_TEXT, hangs };
    // Without the arguments of this process, which resolve packages to their sources.
    this.worker = new Worker(new URL('../testing/reader-worker.ts', import.meta.url), {
      workerData,
      transferList: [port2],
      execArgv: [],
    });
    threads.push(this);
  }

  async message(): Promise<unknown> {
    const [message] = (await once(this.worker, 'message')) as unknown[];
    return message;
  }

  async end(): Promise<void> {
    this.channel.port1.close();
    await this.worker.terminate();
  }
}

const threads: ReaderThread[] = [];
afterEach(async () => {
  await Promise.all(threads.splice(0).map((thread) => thread.end()));
});

describe('SharedPolicy', () => {
  it.each([1, 3])(
    'shows %i reading threads each revision whole, none that is older, and the acknowledged one at once',
    async (readers) => {
      const memory = new ChunkMemory();
      const writer = new SharedPolicyWriter(readers);
      const words = new Int32Array(new SharedArrayBuffer(8));
      const reading = Array.from({ length: readers }, (_, i) => new ReaderThread(writer, i, words));
      await Promise.all(reading.map((one) => one.message()));
      let policy = build(1, memory);
      expect(writer.trySwap(policy, PATIENCE_NAPS)).toBe(true);
      for (let revision = 2; revision <= REVISIONS; revision++) {
        const before = policy;
        if (revision % SWAP_EVERY === 0) {
          policy = build(revision, memory);
          expect(writer.trySwap(policy, PATIENCE_NAPS)).toBe(true);
          before.release(policy);
        } else if (revision % FORK_EVERY === 0) {
          policy = before.fork();
          advance(policy, revision);
          expect(writer.trySwap(policy, PATIENCE_NAPS)).toBe(true);
          before.release(policy);
          policy.endFork();
        } else {
          const step = (): void => advance(policy, revision);
          expect(writer.tryChange(step, PATIENCE_NAPS)).toBe(true);
        }
        Atomics.store(words, ACKNOWLEDGED, revision);
      }
      const reports = reading.map((one) => one.message());
      Atomics.store(words, STOP, 1);
      for (const report of (await Promise.all(reports)) as ReaderReport[]) {
        expect(report.wrong).toEqual([]);
        expect(report.revisions).toBeGreaterThan(10);
      }
    },
    // Three readers and a writer on few processors, beside other work.
  );

  it('makes no change while a thread is in the middle of a batch', async () => {
    const writer = new SharedPolicyWriter(2);
    const words = new Int32Array(new SharedArrayBuffer(8));
    const policy = build(1);
    expect(writer.trySwap(policy, PATIENCE_NAPS)).toBe(true);
    const hanging = new ReaderThread(writer, 1, words, true);
    expect(await hanging.message()).toBe('ready');
    expect(await hanging.message()).toBe('inside');
    const step = (): void => advance(policy, 2);
    expect(writer.tryChange(step, 2)).toBe(false);
    expect(policy.revision).toBe(1);
    await hanging.end();
  });

  it('takes changes without a batch, also while the writer is in the middle of one', () => {
    const writer = new SharedPolicyWriter(1);
    const messages: PolicyMessage[] = [];
    const invitation = writer.connect(0, (one) => messages.push(structuredClone(one)));
    const shared = new SharedPolicy(structuredClone(invitation), {
      receive: () => messages.shift(),
      openCatalogue: () => {
        throw new Error('there is no catalogue');
      },
    });
    expect(writer.trySwap(build(1), PATIENCE_NAPS)).toBe(true);
    const second = build(2);
    expect(writer.trySwap(second, PATIENCE_NAPS)).toBe(true);
    let left = -1;
    const step = (): void => {
      shared.takeChanges();
      left = messages.length;
      advance(second, 3);
    };
    expect(writer.tryChange(step, PATIENCE_NAPS)).toBe(true);
    expect(left).toBe(0);
    shared.takeChanges();
    expect(shared.enter()?.revision).toBe(3);
    shared.leave();
  });
});
