import { type LoadFnOutput, registerHooks } from 'node:module';
import { fileURLToPath } from 'node:url';
import { applyPlants } from './apply-plants.js';
import { stepClockAtSignal } from './step-clock.js';
import { type PlantName, PLANTS, PLANTS_VARIABLE } from './plants.js';

/** Loaded into a process of Weir before its own code (`node --import`). */
const root = fileURLToPath(new URL('../../../..', import.meta.url));
const names = process.env[PLANTS_VARIABLE]?.split(';').filter(Boolean) ?? [];
const plants = names.map((name) => PLANTS[name as PlantName]);

function textOf(source: LoadFnOutput['source']): string {
  if (typeof source === 'string') return source;
  return new TextDecoder().decode(source ?? new Uint8Array());
}

stepClockAtSignal();
registerHooks({
  load(url, context, nextLoad) {
    const loaded = nextLoad(url, context);
    const own = plants.filter(({ file }) => url === `file://${root}${file}`);
    if (own.length === 0) return loaded;
    return { ...loaded, source: applyPlants(textOf(loaded.source), own) };
  },
});
