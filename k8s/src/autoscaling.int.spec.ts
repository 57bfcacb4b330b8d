import { expect, it } from 'vitest';
import { renderInCluster } from './testing/cluster.js';
import { findObject } from './testing/find.js';
import { render } from './testing/render.js';
import { ciValues, overlay } from './testing/values.js';

const replicasIn = (objects: ReturnType<typeof render>): unknown =>
  (findObject(objects, 'StatefulSet', 'weir-resolver')['spec'] as { replicas?: number }).replicas;

it('the number of resolvers stays when autoscaling is turned on in a running release', async () => {
  const values = overlay(ciValues('minimal'), { resolver: { replicas: 6 } });
  const running = render({ values });
  expect(replicasIn(running)).toBe(6);
  const scaled = overlay(values, { resolver: { autoscaling: { enabled: true } } });
  expect(replicasIn(await renderInCluster({ values: scaled, isUpgrade: true }, running))).toBe(6);
  expect(replicasIn(await renderInCluster({ values: scaled }, []))).toBe(undefined);
});
