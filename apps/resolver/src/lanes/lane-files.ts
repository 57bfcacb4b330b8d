import type { HashKey } from '@weir/dns-name';
import { CidrSet } from '@weir/ops/cidr-set';
import { receiveMessageOnPort } from 'node:worker_threads';
import { LocalRecords } from '../local-records/local-records.js';
import { type LaneFiles as Files, type LaneTask, LaneWord } from './lane-task.js';

/** What an operator may replace by changing a file: the main thread reads it, and the lanes get it. */
export class LaneFiles {
  readonly allowedClients: { has: CidrSet['has'] };
  readonly localRecords = { value: LocalRecords.none };
  private allowed = CidrSet.parse([]);
  private received = 0;

  constructor(
    private readonly task: LaneTask,
    private readonly hashKey: HashKey,
  ) {
    this.allowedClients = { has: (client) => this.allowed.has(client) };
    this.take(task);
  }

  /** Takes what has come. */
  update(): void {
    while (this.received !== Atomics.load(this.task.words, LaneWord.sent)) {
      const message = receiveMessageOnPort(this.task.port);
      if (message === undefined) return;
      this.received++;
      this.take(message.message as Files);
    }
  }

  private take({ allowedClients, localRecords }: Files): void {
    if (allowedClients !== undefined) this.allowed = CidrSet.revive(allowedClients);
    if (localRecords !== undefined) {
      this.localRecords.value = LocalRecords.of(localRecords, this.hashKey);
    }
  }
}
