import { registerHooks } from 'node:module';
import { fileURLToPath } from 'node:url';
import { isMainThread } from 'node:worker_threads';
import { applyPlants, type PlantName, PLANTS, PLANTS_VARIABLE } from './plants.js';

const HOUR_MS = 3_600_000;
/** Each signal steps the clock: an hour ahead, two hours back, and to the right time again. */
const OFFSETS_MS = [HOUR_MS, -HOUR_MS, 0];

/** Steps the clock of this process at each SIGUSR2, as a wrong time server does. Timers do not follow it. */
function stepClockAtSignal(): void {
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
    offsetMs = OFFSETS_MS[steps++ % OFFSETS_MS.length];
  });
}

/** Loaded into a process of Weir before its own code (`node --import`). */
const root = fileURLToPath(new URL('../../../..', import.meta.url));
const names = process.env[PLANTS_VARIABLE]?.split(';').filter(Boolean) ?? [];
const plants = names.map((name) => PLANTS[name as PlantName]);

stepClockAtSignal();
registerHooks({
  load(url, context, nextLoad) {
    const loaded = nextLoad(url, context);
    const own = plants.filter(({ file }) => url === `file://${root}${file}`);
    if (own.length === 0) return loaded;
    const source = Buffer.from(loaded.source as Uint8Array).toString();
    return { ...loaded, source: applyPlants(source, own) };
  },
});
