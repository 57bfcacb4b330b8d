import { execFileSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { get } from 'node:https';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type Harness, startHarness } from '../../testing/harness.js';

describe('https', () => {
  let harness: Harness;
  const folder = mkdtempSync(join(tmpdir(), 'weir-tls-'));
  const file = (name: string): string => join(folder, name);
  const makeCertificate = (name: string): void => {
    const subject = ['-subj', '/CN=api.example.com', '-addext', 'subjectAltName=IP:127.0.0.1'];
    execFileSync(
      'openssl',
      [
        'req',
        '-x509',
        '-newkey',
        'ec',
        '-pkeyopt',
        'ec_paramgen_curve:P-256',
        '-nodes',
        '-days',
        '2',
        ...subject,
        '-keyout',
        file(`${name}.key`),
        '-out',
        file(`${name}.crt`),
      ],
      { stdio: 'pipe' },
    );
  };

  beforeAll(async () => {
    makeCertificate('one');
    makeCertificate('other');
    writeFileSync(file('nonsense'), 'nonsense');
    harness = await startHarness();
  });
  afterAll(async () => {
    await harness.stop();
    rmSync(folder, { recursive: true, force: true });
  });

  it('is served with the given certificate, and HTTP is rejected', async () => {
    const replica = await harness.startReplica({
      MANAGEMENT_TLS_CERT: file('one.crt'),
      MANAGEMENT_TLS_KEY: file('one.key'),
    });
    const status = await new Promise((resolve, reject) => {
      get(
        {
          host: '127.0.0.1',
          port: replica.managementPort,
          path: '/net/',
          ca: readFileSync(file('one.crt')),
          headers: harness.authorization,
          agent: false,
        },
        (response) => {
          response.resume().once('end', () => resolve(response.statusCode));
        },
      ).once('error', reject);
    });
    expect(status).toBe(200);
    await expect(fetch(`http://127.0.0.1:${replica.managementPort}/net/`)).rejects.toThrow();
    await replica.stop();
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
    await expect(start).rejects.toMatchObject({ name: 'StartError' });
  });
});
