import { type Client, ClientAddress } from '@weir/policy';
import { createCipheriv, createDecipheriv, randomBytes } from 'node:crypto';

/** Who was shown a block page, for which name, and when. */
export interface Incident {
  readonly client: Client;
  /** In normal form. */
  readonly domain: string;
  /** The CNAME target that is blocked, when the name itself is not; in normal form. */
  readonly target?: string;
  /** Whole seconds. */
  readonly atMs: number;
}

const CIPHER = 'aes-128-gcm';
const NONCE_BYTES = 12;
const TAG_BYTES = 16;
/** The time in seconds, the family, and the port, which is signed. */
const HEAD_BYTES = 8;
const PORT_OFFSET = 5;

/**
 * Incident numbers: an incident that only who has the key can read or make, as text of base64url. About 75 characters
 * for a short name and IPv4.
 */
export class IncidentSeal {
  private readonly keys: readonly Buffer[];

  /** @param keys of 32 hexadecimal digits: the first one seals, all open. */
  constructor(keys: readonly string[]) {
    this.keys = keys.map((key) => Buffer.from(key, 'hex'));
  }

  seal({ client: { family, words, port }, domain, target, atMs }: Incident): string {
    const head = Buffer.alloc(HEAD_BYTES + (family === 4 ? 4 : 16));
    head.writeUInt32BE(Math.floor(atMs / 1000));
    head[PORT_OFFSET - 1] = family;
    head.writeIntBE(port, PORT_OFFSET, HEAD_BYTES - PORT_OFFSET);
    for (let at = HEAD_BYTES; at < head.length; at += 4) {
      head.writeUInt32BE(words[(at - HEAD_BYTES) / 4], at);
    }
    const nonce = randomBytes(NONCE_BYTES);
    const cipher = createCipheriv(CIPHER, this.keys[0], nonce);
    const names = target === undefined ? domain : `${domain} ${target}`;
    const sealed = [cipher.update(head), cipher.update(names, 'latin1'), cipher.final()];
    return Buffer.concat([nonce, ...sealed, cipher.getAuthTag()]).toString('base64url');
  }

  /** @returns null for a text that none of the keys has sealed. */
  open(text: string): Incident | null {
    const bytes = Buffer.from(text, 'base64url');
    const plain = this.keys.map((key) => decrypt(key, bytes)).find((one) => one !== null);
    if (plain === undefined) return null;
    const client = new ClientAddress();
    const port = plain.readIntBE(PORT_OFFSET, HEAD_BYTES - PORT_OFFSET);
    const isIpv4 = plain[PORT_OFFSET - 1] === 4;
    if (isIpv4) client.setIpv4(plain.readUInt32BE(HEAD_BYTES), port);
    else client.setIpv6(plain, HEAD_BYTES, port);
    const names = plain.toString('latin1', HEAD_BYTES + (isIpv4 ? 4 : 16));
    const [domain, target] = names.split(' ');
    const atMs = plain.readUInt32BE() * 1000;
    return { client, domain, atMs, ...(target !== undefined && { target }) };
  }
}

function decrypt(key: Buffer, bytes: Buffer): Buffer | null {
  if (bytes.length < NONCE_BYTES + TAG_BYTES) return null;
  const options = { authTagLength: TAG_BYTES };
  const decipher = createDecipheriv(CIPHER, key, bytes.subarray(0, NONCE_BYTES), options);
  decipher.setAuthTag(bytes.subarray(-TAG_BYTES));
  const plain = decipher.update(bytes.subarray(NONCE_BYTES, -TAG_BYTES));
  try {
    decipher.final();
  } catch {
    return null;
  }
  return plain;
}
