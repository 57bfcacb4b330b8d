import { connect, type Socket } from 'node:net';
import { SERVER, type Target } from '../shared/target.js';

/** How often each thing happened to an attacker, such as `answered SERVFAIL`. */
export class Counts {
  private readonly counts = new Map<string, number>();

  add(what: string, times = 1): void {
    this.counts.set(what, (this.counts.get(what) ?? 0) + times);
  }

  get(what: string): number {
    return this.counts.get(what) ?? 0;
  }

  toObject(): Readonly<Record<string, number>> {
    return Object.fromEntries(this.counts);
  }
}

/** What an attack works with. */
export interface AttackContext {
  readonly target: Target;
  readonly counts: Counts;
  /** Aborted when the attack is over. */
  readonly signal: AbortSignal;
}

/** What the attacker does, until its signal is aborted. Its sockets stay open for late answers. */
export type Attack = (context: AttackContext) => Promise<void>;

export interface NamedAttack {
  readonly name: string;
  readonly description: string;
  readonly run: Attack;
}

const TICK_MS = 2;
/** A busy attacker skips what it could not do for this long, rather than do it in a burst. */
const MAX_OWED_MS = 20;

/** Calls `step` at a steady rate until the attack is over. */
export async function pace(
  { signal }: AttackContext,
  perSecond: number,
  step: (n: number) => void,
): Promise<void> {
  const perMs = perSecond / 1_000;
  let n = 0;
  let owed = 0;
  let beforeMs = performance.now();
  await new Promise<void>((resolve) => {
    const timer = setInterval(() => {
      if (signal.aborted) {
        clearInterval(timer);
        return resolve();
      }
      const nowMs = performance.now();
      owed = Math.min(owed + (nowMs - beforeMs) * perMs, MAX_OWED_MS * perMs + 1);
      beforeMs = nowMs;
      for (; owed >= 1; owed--) step(n++);
    }, TICK_MS);
  });
}

/** A connection to the resolver. @param port one of `target` */
export function openSocket({ counts }: AttackContext, port: number, localAddress: string): Socket {
  const socket = connect({ host: SERVER, port, localAddress, noDelay: true });
  socket.on('error', () => {
    counts.add('failed');
    socket.destroy();
  });
  return socket;
}
