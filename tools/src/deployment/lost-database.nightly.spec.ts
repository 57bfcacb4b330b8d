import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { Deployment } from './deployment.js';

/** Less than the longest time for which a statement may be silent, and far above what a lost one takes. */
const NOTICED_MS = 28_000;

const folder = mkdtempSync(join(tmpdir(), 'weir-lost-database-'));
let deployment: Deployment;
beforeAll(async () => {
  deployment = await Deployment.create({
    folder,
    replicas: 1,
    resolvers: 0,
    variables: { PROPAGATION_TIMEOUT_MS: '0' },
    onUnexpectedExit: () => undefined,
  });
  await deployment.start();
});
afterAll(async () => {
  await deployment.stop();
  rmSync(folder, { recursive: true });
});

it('a change whose connection was lost is answered soon after PostgreSQL was restarted', async () => {
  const [client] = deployment.clients;
  const [proxy] = deployment.postgresProxies;
  const change = (id: number) => client.call('POST', '/blockpage/', { id, type: 0 });
  expect(await change(1)).toMatchObject({ status: 201 });
  proxy.startBlackhole();
  const sentMs = performance.now();
  const lost = change(2);
  await deployment.postgres.stop('SIGINT');
  await deployment.postgres.start();
  proxy.stopBlackhole();
  expect(await lost).toMatchObject({ status: 503 });
  expect(performance.now() - sentMs).toBeLessThan(NOTICED_MS);
  await expect.poll(() => change(3)).toMatchObject({ status: 201 });
});
