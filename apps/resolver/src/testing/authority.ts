import { createHash, createPrivateKey, createPublicKey } from 'node:crypto';
import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';

/** A certificate with its key, both in PEM. */
export interface Identity {
  readonly certFile: string;
  readonly keyFile: string;
  /** SHA-256 of the public key (RFC 7858 §4.2). */
  readonly pin: string;
}

/** A certificate authority in a folder. */
export class Authority {
  readonly caFile: string;
  private readonly keyFile: string;

  constructor(private readonly folder: string) {
    this.caFile = join(folder, 'ca.pem');
    this.keyFile = join(folder, 'ca.key');
    openssl(
      ['req', '-x509', '-days', '2', ...newKey(this.keyFile), '-subj', '/CN=Test CA'],
      this.caFile,
    );
  }

  /** A certificate for that name, signed by this authority. */
  issue(name: string): Identity {
    const certFile = join(this.folder, `${name}.pem`);
    const keyFile = join(this.folder, `${name}.key`);
    const signer = ['-CA', this.caFile, '-CAkey', this.keyFile];
    const subject = ['-subj', `/CN=${name}`, '-addext', `subjectAltName=DNS:${name}`];
    openssl(['req', '-x509', '-days', '2', ...newKey(keyFile), ...signer, ...subject], certFile);
    const key = createPublicKey(createPrivateKey(readFileSync(keyFile)));
    const spki = key.export({ type: 'spki', format: 'der' });
    return { certFile, keyFile, pin: createHash('sha256').update(spki).digest('base64') };
  }
}

function newKey(keyFile: string): string[] {
  const curve = ['-pkeyopt', 'ec_paramgen_curve:P-256'];
  return ['-newkey', 'ec', ...curve, '-nodes', '-keyout', keyFile];
}

function openssl(args: readonly string[], out: string): void {
  execFileSync('openssl', [...args, '-out', out], { stdio: 'pipe' });
}
