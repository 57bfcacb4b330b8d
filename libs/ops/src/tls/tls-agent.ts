import { Agent } from 'node:https';
import type { Duplex } from 'node:stream';
import { connect, type ConnectionOptions } from 'node:tls';
import { StartError } from '../start-error.js';
import { PIN_KIND, PIN_PATTERN } from '../variables/endpoint.js';
import { type Watched, watchFile, type WatchedFilesLog } from '../watched-files.js';
import { publicKeyPin } from './public-key-pin.js';
import { parseAuthorities } from './tls-identity.js';

const MAX_FILE_BYTES = 2 ** 20;
const CHECK_MS = 2_000;
const PIN = new RegExp(`^${PIN_PATTERN}$`);

/** How a server that is asked over TLS proves who it is. Variables are named `<prefix>_CA` and `<prefix>_PINS`. */
export interface TlsAgentOptions {
  readonly prefix: string;
  readonly url: string;
  /** File with the certificates of the authorities that are trusted, in place of those of Node.js. */
  readonly ca: string | undefined;
  /** Pins, comma-separated: its public key has one of them. Without `ca` no authority is asked. */
  readonly pins: string | undefined;
  readonly log: WatchedFilesLog;
}

/**
 * The agent of the next request. It sends nothing before the server has proven who it is. A changed file of authorities
 * makes another. Null: neither a file nor a pin is given.
 * @throws StartError when the URL is not https, or a value is not usable.
 */
export function openTlsAgent(options: TlsAgentOptions): Watched<Agent> | null {
  const { prefix, url, ca, log } = options;
  if (ca === undefined && options.pins === undefined) return null;
  if (new URL(url).protocol !== 'https:') {
    const given = ca === undefined ? `${prefix}_PINS` : `${prefix}_CA`;
    throw new StartError(`${given} needs a ${prefix}_URL that begins with https://`);
  }
  const pins = parsePins(options.pins, `${prefix}_PINS`);
  const agentOf = (authorities?: string): Agent =>
    new CheckingAgent(pins, {
      ...(authorities !== undefined && { ca: authorities }),
      // A pin alone takes the place of authority and name: `CheckingAgent` compares it.
      rejectUnauthorized: pins.length === 0 || authorities !== undefined,
    });
  return watchFile<Agent>({
    variable: `${prefix}_CA`,
    path: ca,
    fixed: agentOf(),
    maxBytes: MAX_FILE_BYTES,
    parse: (text) => {
      parseAuthorities(text, `${prefix}_CA`);
      return agentOf(text);
    },
    content: `the authorities of ${prefix}_CA`,
    log,
    checkMs: CHECK_MS,
  });
}

function parsePins(text: string | undefined, variable: string): readonly string[] {
  const pins = text === undefined ? [] : text.split(',').map((pin) => pin.trim());
  if (pins.every((pin) => PIN.test(pin))) return pins;
  throw new StartError(
    `${variable} must be comma-separated pins such as sha256/ and 43 characters and =`,
  );
}

/** Gives a connection to a request only once the server has the right certificate. */
class CheckingAgent extends Agent {
  constructor(
    private readonly pins: readonly string[],
    private readonly tls: ConnectionOptions,
  ) {
    super({ keepAlive: false });
  }

  override createConnection(
    options: ConnectionOptions,
    callback?: (error: Error | null, stream: Duplex) => void,
  ): undefined {
    const socket = connect({ ...options, ...this.tls, minVersion: 'TLSv1.2' });
    const fail = (error: Error): void => callback?.(error, socket);
    socket.once('error', fail);
    socket.once('secureConnect', () => {
      const pin = this.pins.length === 0 ? null : `${PIN_KIND}${publicKeyPin(socket)}`;
      if (pin !== null && !this.pins.includes(pin)) {
        socket.destroy(new Error(`the pin of its public key is ${pin}`));
        return;
      }
      socket.off('error', fail);
      callback?.(null, socket);
    });
  }
}
