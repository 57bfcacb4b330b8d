// Applies changes of one operation of every kind and measures each.
import { ENTITY_KINDS, fromKeyRow, fromRow, toKeyRow } from '@weir/config-model';
import { network6Row, profileRow } from './configuration.mjs';
import { randomNumbers } from './names.mjs';

/**
 * New rows, not among those loaded, by kind.
 * @returns {{ [K in import('@weir/config-model').EntityKind]?: (i: number) => import('@weir/config-model').Row }}
 */
function newRows(size, random) {
  const profiles = Math.max(size.profiles, 1);
  const any = () => random() % profiles;
  return {
    profile: (i) => profileRow(profiles + i),
    domainRule: () => [any(), random() * 2 ** 20 + (random() % 2 ** 20), 2],
    ipv4Network: () => [random(), 32, any()],
    ipv6Network: (i) => network6Row(2 ** 24 + i * 2 + 1, any()),
    naptAssignment: (i) => [0x6440_0000 + (i >>> 3), (i & 7) * 8192, (i & 7) * 8192 + 8191, any()],
    schedule: (i) => [profiles + i, any(), 1, 40, 46],
    blockPage: (i) => [i, 1],
  };
}

/**
 * µs per change; the longest change; and mean and maximum of the undisturbed changes, during which the thread was
 * neither descheduled nor collecting garbage.
 */
export async function measureChanges(policy, size, count, collections) {
  const results = {};
  const random = randomNumbers(4711);
  const rows = newRows(size, random);
  for (const kind of ENTITY_KINDS) {
    const rowOf = rows[kind];
    if (rowOf === undefined) continue;
    const entities = Array.from({ length: count }, (_, i) => fromRow(kind, rowOf(i)));
    const keys = entities.map((entity) => fromKeyRow(kind, [...toKeyRow(kind, entity)]));
    const put = entities.map((entity) => ({ type: 'put', kind, entity }));
    results[kind] = {
      put: await measure(policy, put, collections),
      'put again': await measure(policy, put, collections),
      delete: await measure(
        policy,
        keys.map((one) => ({ type: 'delete', kind, key: one })),
        collections,
      ),
    };
  }
  return results;
}

async function measure(policy, operations, collections) {
  collections.length = 0;
  const started = new Float64Array(operations.length);
  const wall = new Float64Array(operations.length);
  const preempted = new Uint8Array(operations.length);
  const switches = () => process.resourceUsage().involuntaryContextSwitches;
  for (let i = 0; i < operations.length; i++) {
    const change = { revision: policy.revision + 1, digest: '', operations: [operations[i]] };
    const before = switches();
    started[i] = performance.now();
    policy.apply(change);
    wall[i] = performance.now() - started[i];
    preempted[i] = switches() === before ? 0 : 1;
  }
  await new Promise((resolve) => setTimeout(resolve, 20));
  const withoutProxies = wall.filter((ms, i) => {
    const end = started[i] + ms;
    const collected = collections.some(
      (gc) => gc.startTime < end && gc.startTime + gc.duration > started[i],
    );
    return preempted[i] === 0 && !collected;
  });
  const p = (values, share) => values.toSorted()[Math.floor(values.length * share)] * 1000;
  return {
    meanUs: (withoutProxies.reduce((all, ms) => all + ms, 0) / withoutProxies.length) * 1000,
    p99Us: p(wall, 0.99),
    worstUs: p(wall, 0.999999),
    undisturbedUs: p(withoutProxies, 0.999999),
  };
}
