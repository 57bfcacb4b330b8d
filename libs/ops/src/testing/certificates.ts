import { execFileSync } from 'node:child_process';

/** Writes a self-signed certificate for 127.0.0.1 that is valid for `days`, and its key, both in PEM. */
export function makeCertificate(certFile: string, keyFile: string, days = 2): void {
  const name = ['-subj', '/CN=dns.example.com', '-addext', 'subjectAltName=IP:127.0.0.1'];
  openssl('req', '-x509', '-days', `${days}`, ...newKey(keyFile), ...name, '-out', certFile);
}

/** Writes the certificate of an authority and its key. */
export function makeAuthority(certFile: string, keyFile: string): void {
  const name = [
    '-subj',
    '/CN=authority.example.com',
    '-addext',
    'basicConstraints=critical,CA:true',
  ];
  openssl('req', '-x509', '-days', '2', ...newKey(keyFile), ...name, '-out', certFile);
}

/** Writes a certificate for 127.0.0.1 that the authority has signed, and its key. */
export function signCertificate(
  certFile: string,
  keyFile: string,
  authority: { readonly certFile: string; readonly keyFile: string },
): void {
  const name = ['-subj', '/CN=client.example.com', '-addext', 'subjectAltName=IP:127.0.0.1'];
  const signer = ['-CA', authority.certFile, '-CAkey', authority.keyFile];
  const kind = ['-addext', 'basicConstraints=critical,CA:false'];
  openssl(
    'req',
    '-x509',
    '-days',
    '2',
    ...newKey(keyFile),
    ...name,
    ...kind,
    ...signer,
    '-out',
    certFile,
  );
}

function newKey(file: string): string[] {
  return ['-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:P-256', '-nodes', '-keyout', file];
}

function openssl(...args: string[]): void {
  execFileSync('openssl', args, { stdio: 'pipe' });
}
