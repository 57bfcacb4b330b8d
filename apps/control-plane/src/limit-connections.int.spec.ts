import { connect, type Socket } from 'node:net';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { type Harness, startHarness } from './testing/harness.js';

const STRANGER = '127.0.0.9';

describe('clients that open connections and send nothing', () => {
  const sockets: Socket[] = [];
  let harness: Harness;

  beforeEach(async () => {
    harness = await startHarness({
      MANAGEMENT_ALLOWED_SOURCES: '127.0.0.1',
      MANAGEMENT_CONNECTIONS: '100',
    });
  });
  afterEach(async () => {
    for (const socket of sockets.splice(0)) socket.destroy();
    await harness.stop();
  });

  /** @returns how many of the connections are still open. */
  const openConnections = (port: number, count: number, localAddress: string): (() => number) => {
    const opened = Array.from({ length: count }, () =>
      connect({ host: '127.0.0.1', port, localAddress }).on('error', () => undefined),
    );
    for (const socket of opened) socket.resume();
    sockets.push(...opened);
    return () => opened.filter((socket) => !socket.closed).length;
  };

  it('leave the API to others when their source is not approved', async () => {
    const open = openConnections(harness.controlPlane.managementPort, 300, STRANGER);
    await expect.poll(open).toBeLessThanOrEqual(64);
    expect((await harness.call('GET', '/blockpage/')).status).toBe(200);
  });

  it('leave the other ports of the process alone when their source is approved', async () => {
    const { managementPort, opsPort } = harness.controlPlane;
    const open = openConnections(managementPort, 300, '127.0.0.1');
    await expect.poll(open).toBeLessThanOrEqual(100);
    const metrics = await (await fetch(`http://127.0.0.1:${opsPort}/metrics`)).text();
    const refused = /^weir_management_connections_refused_total (\d+)$/m.exec(metrics)?.[1];
    expect(Number(refused)).toBeGreaterThanOrEqual(200);
    for (const socket of sockets) socket.destroy();
    await expect.poll(async () => (await harness.call('GET', '/blockpage/')).status).toBe(200);
  });
});
