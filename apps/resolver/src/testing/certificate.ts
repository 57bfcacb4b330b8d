import { execFileSync } from 'node:child_process';

/** Writes a self-signed certificate for 127.0.0.1 and its key, both in PEM. */
export function makeCertificate(certFile: string, keyFile: string): void {
  const key = [
    '-newkey',
    'ec',
    '-pkeyopt',
    'ec_paramgen_curve:P-256',
    '-nodes',
    '-keyout',
    keyFile,
  ];
  const subject = ['-subj', '/CN=dns.example.com', '-addext', 'subjectAltName=IP:127.0.0.1'];
  const args = ['req', '-x509', '-days', '2', ...key, ...subject, '-out', certFile];
  execFileSync('openssl', args, { stdio: 'pipe' });
}
