import { connect } from 'node:net';
import { Counter, Registry } from 'prom-client';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { type OpsHandlers, OpsServer } from './ops-server.js';

describe('OpsServer', () => {
  let registry: Registry;
  const logged: unknown[] = [];
  const log = { error: (fields: object) => void logged.push(fields) };
  let ops: OpsServer;
  const get = async (path: string, method = 'GET') => {
    const response = await fetch(`http://127.0.0.1:${ops.port}${path}`, { method });
    return [response.status, await response.text()];
  };
  const serve = (handlers: Partial<OpsHandlers>) =>
    ops.serve({ notReady: () => null, registry, ...handlers });

  beforeEach(async () => {
    logged.length = 0;
    registry = new Registry();
    new Counter({ name: 'weir_example_total', help: 'An example.', registers: [registry] }).inc();
    ops = await OpsServer.start({ host: '127.0.0.1', port: 0, log });
  });
  afterEach(() => ops.close());

  it('is live and not ready before the handlers of the process are known', async () => {
    expect(await get('/livez')).toEqual([200, 'ok\n']);
    expect(await get('/readyz')).toEqual([503, 'starting\n']);
    expect(await get('/metrics')).toEqual([200, '# TYPE weir_ready gauge\nweir_ready 0\n']);
    expect((await get('/own'))[0]).toBe(404);
  });

  it('closes connections beyond a limit, which would use up the file descriptors of the process', async () => {
    const sockets = Array.from({ length: 1_200 }, () =>
      connect(ops.port, '127.0.0.1')
        .on('error', () => undefined)
        .resume(),
    );
    const open = () => sockets.filter(({ closed }) => !closed).length;
    await expect.poll(open).toBeLessThanOrEqual(1_024);
    for (const socket of sockets) socket.destroy();
    await expect.poll(() => get('/livez')).toEqual([200, 'ok\n']);
  });

  it('says what the start is waiting for', async () => {
    ops.waitFor('the moon');
    expect(await get('/readyz')).toEqual([503, 'starting: the moon\n']);
    serve({ notReady: () => null });
    expect(await get('/readyz')).toEqual([200, 'ok\n']);
  });

  it('says why it is not ready, and what is degraded either way', async () => {
    let reason: string | null = 'no snapshot yet';
    let degraded: readonly string[] = ['Redis is out of reach'];
    serve({ notReady: () => reason, degraded: () => degraded });
    const line = 'degraded: Redis is out of reach\n';
    expect(await get('/readyz')).toEqual([503, `no snapshot yet\n${line}`]);
    reason = null;
    expect(await get('/readyz')).toEqual([200, `ok\n${line}`]);
    degraded = [];
    expect(await get('/readyz')).toEqual([200, 'ok\n']);
  });

  it('is live and not ready while it drains', async () => {
    serve({});
    ops.drain();
    expect(await get('/readyz')).toEqual([503, 'stopping\n']);
    expect(await get('/livez')).toEqual([200, 'ok\n']);
  });

  it('is not ready when the check fails, and writes the error to the log only', async () => {
    serve({ notReady: () => Promise.reject(new Error('SELECT 1 on db.internal failed')) });
    const [status, text] = await get('/readyz');
    expect(status).toBe(503);
    expect(text).toBe('cannot find out whether it is ready; the log says why\n');
    expect(String((logged[0] as { err: Error }).err)).toContain('db.internal');
  });

  it('has a metric for readiness', async () => {
    let reason: string | null = null;
    serve({ notReady: () => reason });
    expect((await get('/metrics'))[1]).toMatch(/^weir_ready 1$/m);
    reason = 'no snapshot yet';
    expect((await get('/metrics'))[1]).toMatch(/^weir_ready 0$/m);
    reason = null;
    ops.drain();
    expect((await get('/metrics'))[1]).toMatch(/^weir_ready 0$/m);
  });

  it('serves the metrics of the registry', async () => {
    serve({});
    expect((await get('/metrics'))[1]).toContain('weir_example_total 1');
  });

  it('answers 404 for other paths and 405 for other methods', async () => {
    expect((await get('/'))[0]).toBe(404);
    const refused = await fetch(`http://127.0.0.1:${ops.port}/livez`, { method: 'POST' });
    expect([refused.status, refused.headers.get('allow')]).toEqual([405, 'GET, HEAD']);
  });

  it('passes other paths to the process, and answers 404 when the process does not know them', async () => {
    serve({
      handleOther: (request, response) => {
        if (request.url !== '/own?a=1') return Promise.resolve(false);
        response.end('mine');
        return Promise.resolve(true);
      },
    });
    expect(await get('/own?a=1')).toEqual([200, 'mine']);
    expect(await get('/livez')).toEqual([200, 'ok\n']);
    expect(await get('/other')).toEqual([404, 'not found\n']);
  });

  it('says which port and variable when the port is taken', async () => {
    const taken = OpsServer.start({ host: '127.0.0.1', port: ops.port, log });
    await expect(taken).rejects.toThrow(
      `127.0.0.1:${ops.port} is in use by another process (OPS_PORT)`,
    );
  });
});
