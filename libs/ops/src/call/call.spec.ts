import { once } from 'node:events';
import { createServer, type AddressInfo } from 'node:net';
import { Registry } from 'prom-client';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { OpsCalls } from '../ops-calls.js';
import { OpsServer } from '../ops-server.js';
import { callOwnOpsPort } from './call.js';

const TOKEN = 'a-token-of-the-call-spec';

describe('callOwnOpsPort', () => {
  let ops: OpsServer;
  let reason: string | null;
  const environment = () => ({ OPS_PORT: String(ops.port), OPS_TOKENS: `${TOKEN}, another-token` });

  beforeEach(async () => {
    reason = null;
    ops = await OpsServer.start({ host: '127.0.0.1', port: 0, log: { error: () => undefined } });
    const calls = new OpsCalls([TOKEN], {
      '/tell': { method: 'GET', run: () => ({ told: true }) },
      '/change': { method: 'POST', run: (body) => ({ changed: body }) },
    });
    ops.serve({ notReady: () => reason, registry: new Registry(), calls });
  });
  afterEach(() => ops.close());

  it('sends a GET without a body and a POST with one, with the token of the environment', async () => {
    expect(await callOwnOpsPort('/tell', undefined, environment())).toEqual({
      isDone: true,
      text: '{"told":true}',
    });
    expect(await callOwnOpsPort('/change', '{"a":1}', environment())).toEqual({
      isDone: true,
      text: '{"changed":{"a":1}}',
    });
  });

  it('tells why a call was refused, or got no answer', async () => {
    const { OPS_PORT } = environment();
    expect(await callOwnOpsPort('/tell', undefined, { OPS_PORT })).toEqual({
      isDone: false,
      text: '{"detail":"the header Authorization needs Bearer and a token of OPS_TOKENS"}',
    });
    await ops.close();
    const { isDone, text } = await callOwnOpsPort('/tell', undefined, { OPS_PORT });
    expect(isDone).toBe(false);
    expect(text).toMatch(/^\/tell on port \d+: .*ECONNREFUSED/);
  });

  it.each([undefined, '', '127.0.0.1', '0.0.0.0', '::'])(
    'checks the health of a process with OPS_HOST %j',
    async (OPS_HOST) => {
      const well = { isDone: true, text: 'ok' };
      expect(await callOwnOpsPort('/livez', undefined, { ...environment(), OPS_HOST })).toEqual(
        well,
      );
      expect(await callOwnOpsPort('/readyz', undefined, { ...environment(), OPS_HOST })).toEqual(
        well,
      );
      reason = 'no configuration yet';
      expect(await callOwnOpsPort('/readyz', undefined, { ...environment(), OPS_HOST })).toEqual({
        isDone: false,
        text: 'no configuration yet',
      });
    },
  );

  it('gives up on a process that accepts the connection and does not answer', async () => {
    const server = createServer().listen(0, '127.0.0.1');
    await once(server, 'listening');
    const OPS_PORT = String((server.address() as AddressInfo).port);
    const { isDone, text } = await callOwnOpsPort('/livez', undefined, { OPS_PORT });
    expect([isDone, text]).toEqual([false, expect.stringContaining('no answer within 4000 ms')]);
    server.close();
  });
});
