import { execFileSync } from 'node:child_process';
import { join } from 'node:path';

/** Files with a certificate and its key, both in PEM. */
export interface Certificate {
  readonly certFile: string;
  readonly keyFile: string;
}

/** Writes a self-signed certificate and its key to a folder. */
export function makeCertificate(folder: string): Certificate {
  const [certFile, keyFile] = [join(folder, 'certificate.pem'), join(folder, 'key.pem')];
  const keyOptions = ['-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:P-256', '-nodes'];
  const files = ['-keyout', keyFile, '-out', certFile];
  const subject = ['-subj', '/CN=dns.example.com', '-days', '2'];
  execFileSync('openssl', ['req', '-x509', ...keyOptions, ...subject, ...files], { stdio: 'pipe' });
  return { certFile, keyFile };
}
