import { X509Certificate } from 'node:crypto';
import { StartError } from '../start-error.js';

const CERTIFICATE = /-----BEGIN CERTIFICATE-----[^-]+-----END CERTIFICATE-----/g;

/**
 * The certificates of a PEM file of authorities. TLS itself ignores what is none, and would trust nobody then.
 * @throws StartError that names the variable: there is none, or one cannot be read
 */
export function parseAuthorities(text: string, variable: string): readonly X509Certificate[] {
  const readAll = () => {
    const blocks = text.match(CERTIFICATE);
    if (blocks === null) throw new Error('there is none');
    return blocks.map((block) => new X509Certificate(block));
  };
  return parsePem(readAll, variable, 'certificates of authorities');
}

/** @throws StartError that names the variable, when `make` throws */
export function parsePem<T>(make: () => T, variable: string, what: string): T {
  try {
    return make();
  } catch (cause) {
    throw new StartError(`${variable} must name a PEM file with ${what}`, { cause });
  }
}
