import { makeAuthority, makeCertificate, signCertificate } from '@weir/ops/testing';
import { X509Certificate } from 'node:crypto';
import { copyFileSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { get } from 'node:https';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import type { ControlPlane } from '../../control-plane.js';
import { type Harness, startHarness } from '../../testing/harness.js';

describe('https', () => {
  let harness: Harness;
  let replica: ControlPlane | undefined;
  const folder = mkdtempSync(join(tmpdir(), 'weir-tls-'));
  const file = (name: string): string => join(folder, name);
  const pair = (name: string) => ({ certFile: file(`${name}.crt`), keyFile: file(`${name}.key`) });
  const live = { MANAGEMENT_TLS_CERT: file('live.crt'), MANAGEMENT_TLS_KEY: file('live.key') };
  const use = (name: string): void => {
    copyFileSync(file(`${name}.crt`), live.MANAGEMENT_TLS_CERT);
    copyFileSync(file(`${name}.key`), live.MANAGEMENT_TLS_KEY);
  };
  const start = async (variables: Record<string, string>): Promise<number> => {
    replica = await harness.startReplica(variables);
    return replica.managementPort;
  };
  /** The status of a call with a token by a client that trusts `ca`, and has a certificate if one is named. */
  const call = (port: number, ca: string, client?: string): Promise<number | undefined> =>
    new Promise((resolve, reject) => {
      const own = client !== undefined && {
        cert: readFileSync(file(`${client}.crt`)),
        key: readFileSync(file(`${client}.key`)),
      };
      const options = {
        host: '127.0.0.1',
        port,
        path: '/net/',
        ca: readFileSync(file(`${ca}.crt`)),
        headers: harness.authorization,
        agent: false,
        ...own,
      };
      get(options, (response) => {
        response.resume().once('end', () => resolve(response.statusCode));
      }).once('error', reject);
    });
  const metric = async (name: string): Promise<string | undefined> => {
    const response = await fetch(`http://127.0.0.1:${replica!.opsPort}/metrics`);
    const line = new RegExp(`^${name}\\{files="MANAGEMENT_TLS"\\} (\\S+)$`, 'm');
    return line.exec(await response.text())?.[1];
  };
  const faults = () => metric('weir_tls_file_faults_total');

  beforeAll(async () => {
    for (const name of ['one', 'other']) makeCertificate(file(`${name}.crt`), file(`${name}.key`));
    for (const name of ['ca', 'new-ca']) makeAuthority(file(`${name}.crt`), file(`${name}.key`));
    for (const name of ['ca', 'new-ca']) {
      signCertificate(file(`by-${name}.crt`), file(`by-${name}.key`), pair(name));
    }
    writeFileSync(file('nonsense'), 'nonsense');
    harness = await startHarness();
  });
  afterAll(async () => {
    await harness.stop();
    rmSync(folder, { recursive: true, force: true });
  });

  afterEach(async () => {
    await replica?.stop();
    replica = undefined;
  });

  it('is served with the given certificate, and HTTP is rejected', async () => {
    use('one');
    const port = await start(live);
    expect(await call(port, 'one')).toBe(200);
    await expect(fetch(`http://127.0.0.1:${port}/net/`)).rejects.toThrow();
  });

  it('uses a renewed certificate without a restart, and counts one that cannot be used', async () => {
    use('one');
    const port = await start(live);
    expect(await faults()).toBe('0');
    copyFileSync(file('other.crt'), live.MANAGEMENT_TLS_CERT);
    await expect.poll(faults).not.toBe('0');
    expect(await call(port, 'one')).toBe(200);
    expect(harness.logLines.join('')).toContain(
      'MANAGEMENT_TLS_KEY is not the key of the certificate of MANAGEMENT_TLS_CERT',
    );
    copyFileSync(file('other.key'), live.MANAGEMENT_TLS_KEY);
    await expect.poll(() => call(port, 'other').catch(() => 0)).toBe(200);
    await expect(call(port, 'one')).rejects.toThrow(/self-signed/);
  });

  it('says when the certificate in use expires', async () => {
    const expirySeconds = async () =>
      Number(await metric('weir_tls_certificate_expiration_timestamp_seconds'));
    use('one');
    await start(live);
    const { validToDate } = new X509Certificate(readFileSync(file('one.crt')));
    expect(await expirySeconds()).toBe(validToDate.getTime() / 1000);
    makeCertificate(file('renewed.crt'), file('renewed.key'), 90);
    use('renewed');
    await expect.poll(expirySeconds).toBeGreaterThan(Date.now() / 1000 + 89 * 86_400);
  });

  it('needs a certificate of the client when its authorities are given, and the token too', async () => {
    use('one');
    const clientCa = file('client-ca.crt');
    copyFileSync(file('ca.crt'), clientCa);
    const port = await start({ ...live, MANAGEMENT_TLS_CLIENT_CA: clientCa });
    expect(await call(port, 'one', 'by-ca')).toBe(200);
    await expect(call(port, 'one')).rejects.toThrow(
      /certificate required|hang up|ECONNRESET|EPIPE/,
    );
    await expect(call(port, 'one', 'by-new-ca')).rejects.toThrow(/hang up|ECONNRESET|EPIPE|alert/);
    // The kubelet and Prometheus have no certificate, and need none.
    const probe = await fetch(`http://127.0.0.1:${replica!.opsPort}/livez`);
    expect(probe.status).toBe(200);

    copyFileSync(file('nonsense'), clientCa);
    await expect.poll(faults).not.toBe('0');
    expect(await call(port, 'one', 'by-ca')).toBe(200);
    copyFileSync(file('new-ca.crt'), clientCa);
    await expect.poll(() => call(port, 'one', 'by-new-ca').catch(() => 0)).toBe(200);
    await expect(call(port, 'one', 'by-ca')).rejects.toThrow(/hang up|ECONNRESET|EPIPE|alert/);
  });

  it.each([
    ['authorities without a certificate', undefined, 'ca.crt', /_CERT must be given with .*_CA$/],
    ['authorities that are none', 'one', 'nonsense', /_CA must name a PEM file with certificates/],
    ['authorities that are not there', 'one', 'none.crt', /_CA names a file that cannot be read/],
  ])('%s stop the start in one line', async (_what, own, ca, line) => {
    if (own !== undefined) use(own);
    const variables = { ...(own !== undefined && live), MANAGEMENT_TLS_CLIENT_CA: file(ca) };
    await expect(harness.startReplica(variables)).rejects.toThrow(line);
  });

  it.each([
    [
      'a certificate without its key',
      'one.crt',
      undefined,
      'MANAGEMENT_TLS_KEY must be given with MANAGEMENT_TLS_CERT',
    ],
    [
      'a key without its certificate',
      undefined,
      'one.key',
      'MANAGEMENT_TLS_CERT must be given with MANAGEMENT_TLS_KEY',
    ],
    [
      'a certificate that is not there',
      'none.crt',
      'one.key',
      /^MANAGEMENT_TLS_CERT names a file that cannot be read: .*none\.crt \(ENOENT\)$/,
    ],
    [
      'a key that is not there',
      'one.crt',
      'none.key',
      /^MANAGEMENT_TLS_KEY names a file that cannot be read: .*none\.key \(ENOENT\)$/,
    ],
    [
      'a certificate that is none',
      'nonsense',
      'one.key',
      'MANAGEMENT_TLS_CERT must name a PEM file with an unencrypted certificate',
    ],
    [
      'a key that is none',
      'one.crt',
      'nonsense',
      'MANAGEMENT_TLS_KEY must name a PEM file with an unencrypted private key',
    ],
    [
      'the key of another certificate',
      'one.crt',
      'other.key',
      'MANAGEMENT_TLS_KEY is not the key of the certificate of MANAGEMENT_TLS_CERT',
    ],
  ])('%s stops the start in one line', async (_what, cert, key, line) => {
    const start = harness.startReplica({
      ...(cert !== undefined && { MANAGEMENT_TLS_CERT: file(cert) }),
      ...(key !== undefined && { MANAGEMENT_TLS_KEY: file(key) }),
    });
    await expect(start).rejects.toThrow(line);
    await expect(start).rejects.toMatchObject({
      name: cert && key ? 'StartError' : 'VariableError',
    });
  });
});
