import { Counter, Registry } from 'prom-client';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { type OpsServer, startOpsServer } from './ops-server.js';
import { explainListenError } from './process.js';

describe('startOpsServer', () => {
  const registry = new Registry();
  new Counter({ name: 'weir_example_total', help: 'An example.', registers: [registry] }).inc();
  let notReady: string | null;
  let server: OpsServer;
  const get = (path: string, method = 'GET') =>
    fetch(`http://127.0.0.1:${server.port}${path}`, { method });

  beforeEach(async () => {
    notReady = null;
    server = await startOpsServer({
      host: '127.0.0.1',
      port: 0,
      notReady: () => notReady,
      registry,
    });
  });
  afterEach(() => server.close());

  it('is live while the process turns', async () => {
    expect((await get('/livez')).status).toBe(200);
  });

  it('says why it is not ready', async () => {
    notReady = 'no snapshot yet';
    const response = await get('/readyz');
    expect([response.status, await response.text()]).toEqual([503, 'no snapshot yet\n']);
    notReady = null;
    expect((await get('/readyz')).status).toBe(200);
  });

  it('serves the metrics of the registry', async () => {
    expect(await (await get('/metrics')).text()).toContain('weir_example_total 1');
  });

  it('answers 404 and 405 elsewhere', async () => {
    expect((await get('/')).status).toBe(404);
    const refused = await get('/livez', 'POST');
    expect([refused.status, refused.headers.get('allow')]).toEqual([405, 'GET, HEAD']);
  });

  it('says which port and variable when the port is taken', async () => {
    const where = { host: '127.0.0.1', port: server.port, variable: 'OPS_PORT' };
    const error = await startOpsServer({ ...where, notReady: () => null, registry }).catch(
      (reason: unknown) => explainListenError(reason, where),
    );
    expect((error as Error).message).toBe(
      `127.0.0.1:${server.port} is in use by another process (OPS_PORT)`,
    );
  });
});
