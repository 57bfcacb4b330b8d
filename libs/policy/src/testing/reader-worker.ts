/*
 * A worker thread that reads a shared policy and checks that each batch sees one revision of the changing world. It
 * runs the compiled library, as the threads of a resolver do.
 */
import { parseHashKey, SuffixHashes, toWireName } from '@weir/dns-name';
import {
  type MessagePort,
  parentPort,
  receiveMessageOnPort,
  workerData,
} from 'node:worker_threads';
import type * as Library from '../index.js';
import type { Invitation, PolicyMessage, PolicyReader } from '../index.js';
import type * as World from './changing-world.js';

const { Decision, Reason, SharedPolicy, Verdict } = (await import(
  new URL('../../dist/index.js', import.meta.url).href
)) as typeof Library;
const { addressOf, CLIENT, firstNetwork, firstRule, isDenied, ruleName, RULES_EACH } =
  // A worker thread of a test runs the source of this file, and so cannot name it `.js`.
  (await import(new URL('./changing-world.ts', import.meta.url).href)) as typeof World;

/** Words that test and worker share. */
export const ACKNOWLEDGED = 0;
export const STOP = 1;

export interface ReaderTask {
  readonly invitation: Invitation;
  readonly port: MessagePort;
  readonly words: Int32Array;
  readonly key: string;
  /** Enters and never leaves. */
  readonly hangs: boolean;
}

export interface ReaderReport {
  readonly batches: number;
  readonly revisions: number;
  readonly wrong: readonly string[];
}

const { invitation, port, words, key, hangs } = workerData as ReaderTask;
const shared = new SharedPolicy(invitation, {
  receive: () => receiveMessageOnPort(port)?.message as PolicyMessage | undefined,
  openCatalogue: () => {
    throw new Error('there is no catalogue');
  },
});
const names = new SuffixHashes(parseHashKey(key));
const client = { family: 4 as const, words: new Uint32Array(4), port: 0 };
const out = new Decision();
const wrong: string[] = [];
let batches = 0;
let revisions = 0;
let last = -1;
let random = invitation.reader + 1;

function below(limit: number): number {
  random = (Math.imul(random, 1_103_515_245) + 12_345) >>> 0;
  return Math.floor((random / 2 ** 32) * limit);
}

function ask(policy: PolicyReader, address: number, name: string): Library.Decision {
  client.words[0] = address;
  names.compute(toWireName(name), 0);
  policy.decide(client, names, 0, out);
  return out;
}

function expectThat(isRight: boolean, what: string, revision: number): void {
  if (!isRight && wrong.length < 10) wrong.push(`revision ${revision}: ${what}`);
}

function checkBatch(policy: PolicyReader, acknowledged: number): void {
  const { revision } = policy;
  expectThat(revision >= last, `after ${last}`, revision);
  expectThat(revision >= acknowledged, `after the acknowledgement of ${acknowledged}`, revision);
  if (revision !== last) revisions++;
  last = revision;
  const verdict = isDenied(revision) ? Verdict.block : Verdict.permit;
  for (let i = 0; i < 8; i++) {
    for (const name of ['left.example', 'right.example']) {
      const { verdict: found, reason } = ask(policy, CLIENT, name);
      expectThat(found === verdict && reason === Reason.domainRule, name, revision);
    }
    const rule = Math.max(0, firstRule(revision) - 20) + below(revision - firstRule(revision) + 40);
    const exists = rule >= firstRule(revision) && rule <= revision;
    const { reason } = ask(policy, CLIENT, ruleName(rule, below(RULES_EACH)));
    expectThat((reason === Reason.domainRule) === exists, `rule ${rule}`, revision);
    const network = Math.max(0, firstNetwork(revision) - 9) + below(120);
    const isServed = network >= firstNetwork(revision) && network <= revision;
    const { profileId } = ask(policy, addressOf(network), 'left.example');
    expectThat(profileId >= 0 === isServed, `network ${network}`, revision);
  }
  expectThat(policy.revision === revision, `changed within a batch`, revision);
}

parentPort?.postMessage('ready');
while (Atomics.load(words, STOP) === 0) {
  const acknowledged = Atomics.load(words, ACKNOWLEDGED);
  const policy = shared.enter();
  if (hangs) {
    parentPort?.postMessage('inside');
    for (;;) batches++;
  }
  try {
    if (policy === null) expectThat(acknowledged === 0, 'no policy', acknowledged);
    else checkBatch(policy, acknowledged);
  } finally {
    shared.leave();
  }
  batches++;
}
parentPort?.postMessage({ batches, revisions, wrong } satisfies ReaderReport);
port.close();
