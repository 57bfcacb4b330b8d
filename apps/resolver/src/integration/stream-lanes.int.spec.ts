import { encodeQuery, hexOf } from '@weir/dns-wire/testing';
import { makeCertificate } from '@weir/ops/testing';
import { WriteSide } from '@weir/policy';
import { QueryDecider } from '@weir/policy/answers';
import { copyFileSync, mkdtempSync, renameSync, rmSync } from 'node:fs';
import { connect } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { connect as connectTls, type ConnectionOptions, type TLSSocket } from 'node:tls';
import { describe, expect, it, onTestFinished, vi } from 'vitest';
import { askOneTcp } from '../testing/client.js';
import { BLOCKED, PERMITTED, serveByLanes } from '../testing/lane-service.js';
import { droppedFor } from '../testing/listeners.js';
import { SECURE_QUERIES } from '../testing/secure-clients.js';
import { useCertificate } from '../testing/service.js';
import { frame } from '../testing/upstream-server.js';

const LANES = 2;
/** With so many connections each lane has some: all on one of two has a probability of 2⁻³¹. */
const CONNECTIONS = 32;

const certificate = useCertificate();
const query = (name: string): Uint8Array => encodeQuery(name, 1);

async function serve(...[variables, options]: Parameters<typeof serveByLanes>) {
  const { service, server, ...others } = await serveByLanes(
    {
      ...{ RESOLVER_THREADS: LANES, DNS_TLS_PORT: 0, DNS_HTTPS_PORT: 0, ...certificate },
      ...variables,
    },
    options,
  );
  const { tlsPort = 0, httpsPort = 0 } = server;
  return { service, server, ports: { tlsPort, httpsPort }, ...others };
}

async function open(port: number, options: ConnectionOptions = {}): Promise<TLSSocket> {
  const socket = connectTls({ host: '127.0.0.1', port, rejectUnauthorized: false, ...options });
  onTestFinished(() => void socket.destroy());
  await new Promise((resolve, reject) => {
    socket.once('secureConnect', resolve);
    socket.once('error', reject);
  });
  return socket;
}

/** Files that a test may change. */
function copyOf({ DNS_TLS_CERT: cert, DNS_TLS_KEY: key }: typeof certificate) {
  const folder = mkdtempSync(join(tmpdir(), 'weir-stream-lanes-'));
  onTestFinished(() => {
    rmSync(folder, { recursive: true });
  });
  const [DNS_TLS_CERT, DNS_TLS_KEY] = [join(folder, 'dns.crt'), join(folder, 'dns.key')];
  copyFileSync(cert, DNS_TLS_CERT);
  copyFileSync(key, DNS_TLS_KEY);
  return { folder, DNS_TLS_CERT, DNS_TLS_KEY };
}

describe('stream lanes', () => {
  it('share the connections of all transports, and answer alike', async () => {
    const { service, server, ports } = await serve();
    const { streams } = service.lanes;
    expect(streams).toHaveLength(LANES);
    for (let i = 0; i < CONNECTIONS; i++) {
      const ask = SECURE_QUERIES[i % SECURE_QUERIES.length];
      expect(hexOf((await ask(ports, query('www.blocked.example'))).subarray(-4))).toBe(BLOCKED);
      const answer = await askOneTcp(server, query(`n${i}.example.com`));
      expect(hexOf(answer!.subarray(-4))).toBe(PERMITTED);
    }
    const answered = streams.map(({ counts }) => counts.queries.reduce((sum, n) => sum + n, 0));
    expect(Math.min(...answered)).toBeGreaterThan(0);
    expect(answered[0] + answered[1]).toBe(2 * CONNECTIONS);
  });

  it('are one without TLS and HTTPS', async () => {
    const { service } = await serveByLanes({ RESOLVER_THREADS: LANES });
    expect(service.lanes.streams).toHaveLength(1);
  });

  it('count the connections of a subscriber together', async () => {
    const most = 8;
    const { service, server } = await serve({ CLIENT_TCP_CONNECTIONS: most });
    const sockets = Array.from({ length: CONNECTIONS }, () => {
      const socket = connect(server.port, server.address);
      onTestFinished(() => void socket.destroy());
      socket.on('error', () => undefined);
      socket.write(frame(query('www.blocked.example')));
      return socket;
    });
    let answered = 0;
    for (const socket of sockets) socket.on('data', () => answered++);
    const refused = (): number => droppedFor(service.counts.queries, 'crowded') ?? 0;
    await expect.poll(() => answered + refused()).toBe(CONNECTIONS);
    // Each lane may take one at the instant at which another one takes the last.
    expect(answered).toBeGreaterThanOrEqual(most);
    expect(answered).toBeLessThan(most + LANES);
    // When they are closed, others have room.
    for (const socket of sockets) socket.destroy();
    await expect
      .poll(() => askOneTcp(server, query('www.blocked.example')).catch(() => null))
      .not.toBeNull();
  });

  it.each(['TLSv1.2', 'TLSv1.3'] as const)(
    'resume the sessions of each other (%s)',
    async (version) => {
      const { ports } = await serve();
      const versions = { minVersion: version, maxVersion: version };
      const first = await open(ports.tlsPort, versions);
      const session = await new Promise<Buffer>((resolve) => {
        // TLS 1.3 sends its tickets after the handshake.
        first.once('session', resolve);
        const known = first.getSession();
        if (version === 'TLSv1.2' && known !== undefined) resolve(known);
      });
      expect(first.isSessionReused()).toBe(false);
      const resumed: boolean[] = [];
      for (let i = 0; i < CONNECTIONS; i++)
        resumed.push((await open(ports.tlsPort, { ...versions, session })).isSessionReused());
      expect(resumed).toEqual(resumed.map(() => true));
    },
  );

  it('use a changed certificate, for which no old session is resumed', async () => {
    const { folder, DNS_TLS_CERT, DNS_TLS_KEY } = copyOf(certificate);
    const { ports } = await serve({ DNS_TLS_CERT, DNS_TLS_KEY }, { fileCheckMs: 20 });
    const first = await open(ports.tlsPort);
    const session = await new Promise<Buffer>((resolve) => first.once('session', resolve));
    const fingerprint = first.getPeerCertificate().fingerprint256;
    const [cert, key] = [join(folder, 'new.crt'), join(folder, 'new.key')];
    makeCertificate(cert, key);
    renameSync(key, DNS_TLS_KEY);
    renameSync(cert, DNS_TLS_CERT);
    const isNew = async (): Promise<boolean> => {
      const sockets = await Promise.all(Array.from({ length: 8 }, () => open(ports.tlsPort)));
      return sockets.every((socket) => socket.getPeerCertificate().fingerprint256 !== fingerprint);
    };
    await expect.poll(isNew).toBe(true);
    for (let i = 0; i < 8; i++)
      expect((await open(ports.tlsPort, { session })).isSessionReused()).toBe(false);
  });

  it('log a defect, drop its query, and go on', async () => {
    const { server, service, logged } = await serve();
    const decide = vi.spyOn(QueryDecider.prototype, 'decide').mockImplementation(() => {
      throw new Error('defect');
    });
    onTestFinished(() => {
      decide.mockRestore();
    });
    // Only the main thread has the spy.
    const ask = (): Promise<Uint8Array | null> => askOneTcp(server, query('www.blocked.example'));
    await expect.poll(ask).toBeNull();
    expect(droppedFor(service.counts.queries, 'defect')).toBe(1);
    expect(logged).toEqual(['a query could not be handled']);
    decide.mockRestore();
    expect(hexOf((await ask())!.subarray(-4))).toBe(BLOCKED);
  });

  it('end the resolver when a lane is stuck in a write to the cache', async () => {
    const { server, service, logged } = await serveByLanes();
    const { lock } = service.cache['memory'];
    const writer = new WriteSide(lock);
    expect(writer.tryEnter(0)).toBe(true);
    const exit = vi.spyOn(process, 'exit').mockImplementation(() => {
      writer.leave();
      return undefined as never;
    });
    onTestFinished(() => {
      exit.mockRestore();
    });
    await askOneTcp(server, query('www.example.com'));
    expect(exit).toHaveBeenCalledWith(1);
    expect(logged).toEqual(['a lane is stuck in a write to the cache; the resolver ends']);
  });

  it('end the resolver when one of them ends', async () => {
    const { service, logged } = await serve();
    await service.lanes.streams[1].terminate();
    await expect(service.lanes.lost).rejects.toThrow('a thread for streams ended');
    expect(logged).toEqual(['a thread that answers ended, and the resolver with it']);
  });
});
