import { X509Certificate } from 'node:crypto';
import { StartError } from '../process.js';

const CERTIFICATE = /-----BEGIN CERTIFICATE-----[^-]+-----END CERTIFICATE-----/g;

/**
 * The certificates of a PEM file of authorities. TLS itself ignores what is none, and would trust nobody then.
 * @throws StartError that names the variable: there is none, or one cannot be read
 */
export function parseAuthorities(text: string, variable: string): readonly X509Certificate[] {
  const blocks = text.match(CERTIFICATE) ?? [];
  try {
    if (blocks.length > 0) return blocks.map((block) => new X509Certificate(block));
  } catch (cause) {
    throw notAuthorities(variable, cause);
  }
  throw notAuthorities(variable);
}

function notAuthorities(variable: string, cause?: unknown): StartError {
  return new StartError(`${variable} must name a PEM file with certificates of authorities`, {
    cause,
  });
}
