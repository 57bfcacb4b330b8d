import { isMainThread } from 'node:worker_threads';

const HOUR_MS = 3_600_000;
/** Each signal steps the clock: an hour ahead, two hours back, and to the right time again. */
const OFFSETS_MS = [HOUR_MS, -HOUR_MS, 0];

/** Steps the clock of this process at each SIGUSR2, as a wrong time server does. Timers do not follow it. */
export function stepClockAtSignal(): void {
  if (!isMainThread) return;
  const { now } = Date;
  let steps = 0;
  let offsetMs = 0;
  Date.now = () => now() + offsetMs;
  globalThis.Date = new Proxy(Date, {
    apply: (date) => new date(Date.now()).toString(),
    construct: (date, given) =>
      (given.length === 0 ? new date(Date.now()) : Reflect.construct(date, given)) as object,
  });
  process.on('SIGUSR2', () => {
    offsetMs = OFFSETS_MS[steps++ % OFFSETS_MS.length] ?? 0;
  });
}
