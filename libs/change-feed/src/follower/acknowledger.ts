import type { Head } from '@weir/config-model';
import type { ChangeSpans } from './change-spans.js';
import type { FollowerLink } from './follower-link.js';
import type { PersistedConfiguration } from './persisted-configuration.js';

export interface AcknowledgerOptions {
  readonly configuration: Pick<PersistedConfiguration, 'stored'>;
  readonly link: Pick<FollowerLink, 'announce' | 'acknowledge'>;
  readonly spans: Pick<ChangeSpans, 'noteInForce' | 'end'>;
  /** Called before it tells the control plane what is in force. */
  readonly onAcknowledge?: (() => void) | undefined;
}

/** Tells the control plane what is in force, once that is on disk or the disk is late. */
export class Acknowledger {
  /** What is in force and waits for the disk. */
  private waiting: Head | null = null;

  constructor(private readonly options: AcknowledgerOptions) {}

  /** The first acknowledgement, which writes the lease. */
  async announce(inForce: Head): Promise<void> {
    const { configuration, link, onAcknowledge } = this.options;
    await configuration.stored();
    onAcknowledge?.();
    await link.announce(inForce);
  }

  /** Of several revisions that wait for the disk only the last is published. */
  acknowledge(inForce: Head): void {
    this.options.spans.noteInForce(inForce.revision);
    const isWaiting = this.waiting !== null;
    this.waiting = inForce;
    if (!isWaiting) void this.publishStored();
  }

  private async publishStored(): Promise<void> {
    const { configuration, link, spans, onAcknowledge } = this.options;
    while (this.waiting !== null) {
      const inForce = this.waiting;
      await configuration.stored();
      onAcknowledge?.();
      link.acknowledge(inForce);
      spans.end(inForce.revision);
      if (this.waiting === inForce) this.waiting = null;
    }
  }
}
