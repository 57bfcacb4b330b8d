import { connect, type Socket } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterEach, beforeAll, afterAll, describe, expect, it } from 'vitest';
import { type Harness, startHarness, TOKEN } from '../testing/harness.js';

const EMPTY = { blockpages: [], profiles: [], bw_lists: [], napts: [], nets: [], nets6: [] };
const KB = 1_024;
const WAIT = { timeout: 60_000 };

/** A call over a socket of its own, of whose body only a part is sent at first. */
class Upload {
  received = '';

  private constructor(
    private readonly socket: Socket,
    private readonly rest: string,
  ) {
    socket.setEncoding('utf8').on('data', (text: string) => (this.received += text));
    socket.on('error', () => undefined);
  }

  /** @returns when the server reads the body. */
  static async begin(port: number, path: string, body: string, sent: number): Promise<Upload> {
    const socket = connect(port, '127.0.0.1');
    const upload = new Upload(socket, body.slice(sent));
    const head = [
      `POST ${path} HTTP/1.1`,
      'Host: weir',
      `Authorization: Bearer ${TOKEN}`,
      'Content-Type: application/json',
      `Content-Length: ${body.length}`,
      'Expect: 100-continue',
    ];
    socket.write(`${head.join('\r\n')}\r\n\r\n`);
    await expect.poll(() => upload.received, WAIT).toContain('100 Continue');
    socket.write(body.slice(0, sent));
    return upload;
  }

  /** @returns the status. */
  async end(): Promise<number> {
    this.socket.write(this.rest);
    return this.status();
  }

  async status(): Promise<number> {
    const status = () => Number(/HTTP\/1\.1 ([2-9]\d\d) /.exec(this.received)?.[1]);
    await expect.poll(status, WAIT).toBeGreaterThan(0);
    return status();
  }

  close(): void {
    this.socket.destroy();
  }
}

describe('a client that sends its body slowly', () => {
  let harness: Harness;
  const uploads: Upload[] = [];
  const begin = async (path: string, body: string, sent: number, port?: number) => {
    const { managementPort } = harness.controlPlane;
    const upload = await Upload.begin(port ?? managementPort, path, body, sent);
    uploads.push(upload);
    return upload;
  };
  /** A valid body of this many bytes. */
  const padded = (bytes: number) => JSON.stringify(EMPTY).padEnd(bytes);

  beforeAll(async () => {
    harness = await startHarness({ MANAGEMENT_BODY_LIMIT: '200kb' });
  });
  afterEach(() => {
    for (const upload of uploads.splice(0)) upload.close();
  });
  afterAll(() => harness.stop());

  it('holds up neither another replacement nor a change', async () => {
    const slow = await begin('/init/', padded(100), 50);
    const slowChange = await begin('/blockpage/', '{"id":1,"type":0}', 5);
    expect((await harness.call('POST', '/init/', EMPTY)).status).toBe(204);
    expect((await harness.call('POST', '/blockpage/', { id: 2, type: 0 })).status).toBe(201);
    expect(await slowChange.end()).toBe(201);
    expect(await slow.end()).toBe(204);
    expect((await harness.call('GET', '/blockpage/')).body).toEqual([]);
  });

  it('holds up no dry run, and is made when it is there', async () => {
    const path = '/init/?dry_run=true';
    const slow = await begin(path, padded(100), 50);
    const gone = await begin(path, padded(100), 50);
    const whole = () => harness.call('POST', path, EMPTY);
    expect((await whole()).status).toBe(200);
    gone.close();
    const cutOff = () => harness.logLines.filter((line) => line.includes('cut_off'));
    await expect.poll(cutOff, WAIT).toHaveLength(1);
    expect((await whole()).status).toBe(200);
    expect(await slow.end()).toBe(200);
    expect(harness.logLines.join('')).not.toContain('request failed');
  });

  it('makes others wait when all bodies together are larger than the largest one may be', async () => {
    const other = () =>
      fetch(`${harness.baseUrl}/init/`, {
        method: 'POST',
        headers: { ...harness.authorization, 'Content-Type': 'application/json' },
        body: padded(100 * KB),
      });
    let slow!: Upload;
    let refused!: Response;
    // Bytes count when they are read. Before that, the second may be the one that is served.
    const begun = async () => {
      slow = await begin('/init/', padded(190 * KB), 150 * KB);
      await sleep(1_000);
      refused = await other();
      const isBegun = refused.status === 503 && !slow.received.includes(' 503 ');
      if (!isBegun) slow.close();
      return isBegun;
    };
    await expect.poll(begun, WAIT).toBe(true);
    expect(refused.headers.get('retry-after')).toBe('1');
    expect(await refused.json()).toEqual({ detail: expect.stringContaining('Other bodies') });
    expect(await slow.end()).toBe(204);
    expect((await other()).status).toBe(204);
  });

  it('gives its bytes back when it breaks off', async () => {
    (await begin('/init/', padded(190 * KB), 150 * KB)).close();
    const send = async () => (await harness.call('POST', '/init/', EMPTY)).status;
    await expect.poll(send, WAIT).toBe(204);
    const whole = await begin('/init/', padded(190 * KB), 1);
    expect(await whole.end()).toBe(204);
  });

  it.each(['/init/', '/blockpage/'])('gets 408 from %s when nothing more comes', async (path) => {
    const impatient = await harness.startReplica({ MANAGEMENT_STALL_S: '1' });
    const stalled = await begin(path, padded(100), 50, impatient.managementPort);
    expect(await stalled.status()).toBe(408);
    await expect.poll(() => stalled.received).toContain('Connection: close');
    await impatient.stop();
  });
});
