import {
  CLASS_IN,
  HEADER_BYTES,
  NSCOUNT_OFFSET,
  QDCOUNT_OFFSET,
  QUESTION_FIXED_BYTES,
  Type,
  writeUint16,
} from '@weir/dns-wire';
import { randomInt } from 'node:crypto';
import { connect } from 'node:net';
import { CatalogueError } from '../catalogue-error.js';
import { bounded, type ByteStream } from '../lists/list.js';
import { joined } from '../lists/unpack.js';
import { Tsig } from '../transfer/tsig.js';
import { wireName } from '../transfer/wire.js';
import { type Answer, checkRcode, readAnswer, serialOf, ZoneText } from '../transfer/zone-text.js';
import {
  type OpenedSource,
  type OpenOptions,
  type SourceLocation,
  Timeouts,
  type Transfer,
} from './source.js';

const DNS_PORT = 53;
export const TRANSFER_PROTOCOL = 'rpz:';

/** A zone, and the server that sends it. */
interface Zone {
  readonly host: string;
  readonly port: number;
  /** Canonical wire name. */
  readonly name: Buffer;
  /** Name of the TSIG key; null: nothing is signed. */
  readonly key: string | null;
}

/** Whether it is a zone that is transferred. */
export function isTransfer(location: SourceLocation): boolean {
  return 'url' in location && location.url.startsWith(TRANSFER_PROTOCOL);
}

/** Reads `rpz://HOST[:PORT]/ZONE[?key=NAME]`. @throws CatalogueError for any other URL. */
export function parseTransferUrl(url: URL): Zone {
  const { hostname, port, pathname, search, username, password, hash } = url;
  const [, key = null] = /^\?key=([\w.-]+)$/.exec(search) ?? [];
  const isPlain = (search === '' || key !== null) && `${username}${password}${hash}` === '';
  if (url.protocol !== TRANSFER_PROTOCOL || hostname === '' || pathname.length < 2 || !isPlain) {
    throw new CatalogueError('must be like rpz://HOST/ZONE?key=NAME');
  }
  // So that a bad one is a fault of the definition.
  if (key !== null) wireName(key);
  return {
    host: hostname.replace(/^\[(.*)\]$/, '$1'),
    port: Number(port || DNS_PORT),
    name: wireName(pathname.slice(1)),
    key,
  };
}

/**
 * Asks for the serial of a zone; the body is its transfer (AXFR, RFC 5936) as a zone file, on a connection of its own,
 * or with `takesChanges` that of its changes (IXFR, RFC 1995), if the server has them. Any other serial than that of
 * `etag` is a change: so a zone whose primary counts from the beginning is followed.
 */
export async function openTransfer(url: string, options: OpenOptions): Promise<OpenedSource> {
  const zone = parseTransferUrl(new URL(url));
  const asked = await askSerial(zone, options);
  if (options.etag === etagOf(asked)) return { status: 'unchanged' };
  const [, known] = /^serial (\d+)$/.exec(options.etag ?? '') ?? [];
  const since = Number(known);
  if (options.takesChanges !== true || known === undefined || !isOlder(since, asked)) {
    return openZone(zone, asked, null, options);
  }
  try {
    return await openChanges(zone, asked, since, options);
  } catch (error) {
    if (!(error instanceof CatalogueError)) throw error;
    return openZone(zone, asked, error.message, options);
  }
}

const etagOf = (serial: number): string => `serial ${serial}`;

function openZone(
  zone: Zone,
  asked: number,
  problem: string | null,
  options: OpenOptions,
): OpenedSource {
  const text = new ZoneText(zone.name);
  const body = transfer(zone, text, { asked, since: null }, options);
  return opened(text, body, asked, { isIncremental: false, problem });
}

/** A server may answer with the whole zone instead: its second record tells (RFC 1995 §4). */
async function openChanges(
  zone: Zone,
  asked: number,
  since: number,
  options: OpenOptions,
): Promise<OpenedSource> {
  const text = new ZoneText(zone.name, since);
  const rest = transfer(zone, text, { asked, since }, options);
  const head: Uint8Array[] = [];
  while (text.isIncremental === null) {
    const next = await rest.next();
    if (next.done === true) break;
    head.push(next.value);
  }
  const isIncremental = text.isIncremental === true;
  const problem = isIncremental ? null : 'answered with the whole zone';
  const body = joined(Buffer.concat(head), rest);
  return opened(text, body, asked, { isIncremental, problem });
}

function opened(text: ZoneText, body: ByteStream, asked: number, transfer: Transfer): OpenedSource {
  return {
    status: 'opened',
    body,
    // The zone may have changed since it was asked.
    get etag() {
      return etagOf(text.serial ?? asked);
    },
    lastModified: null,
    transfer,
  };
}

async function askSerial(zone: Zone, options: OpenOptions): Promise<number> {
  const tsig = tsigOf(zone, options);
  for await (const { message, answer } of exchange(zone, Type.soa, tsig, options)) {
    return serialOf(message, answer, zone.name);
  }
  throw new CatalogueError('closed the connection without an answer');
}

async function* transfer(
  zone: Zone,
  text: ZoneText,
  { asked, since }: { asked: number; since: number | null },
  options: OpenOptions,
): AsyncGenerator<Uint8Array> {
  const tsig = tsigOf(zone, options);
  const type = since === null ? Type.axfr : Type.ixfr;
  for await (const { message, answer } of exchange(zone, type, tsig, options, since)) {
    yield Buffer.from(text.take(message, answer), 'latin1');
    if (text.serial !== null && isOlder(text.serial, asked)) {
      throw new CatalogueError(`sent serial ${text.serial}, older than the ${asked} that it told`);
    }
    if (!text.isComplete) continue;
    tsig?.end();
    return;
  }
  throw new CatalogueError('closed the connection before the end of the zone');
}

/** Serial number arithmetic (RFC 1982 §3.2). */
function isOlder(serial: number, other: number): boolean {
  return ((serial - other) | 0) < 0;
}

function tsigOf({ key }: Zone, { tsigKeys = [] }: OpenOptions): Tsig | null {
  return key === null ? null : new Tsig(key, tsigKeys);
}

/** A message, verified unless it is between two that are signed. */
interface Received {
  readonly message: Uint8Array;
  readonly answer: Answer;
}

/**
 * Sends a question over TCP (RFC 7766).
 * @param since of IXFR: the serial since which changes are wanted; null: it is another question.
 * @returns the messages that answer it.
 */
async function* exchange(
  { host, port, name }: Zone,
  type: number,
  tsig: Tsig | null,
  options: OpenOptions,
  since: number | null = null,
): AsyncGenerator<Received> {
  const id = randomInt(0x10000);
  const head = Buffer.alloc(HEADER_BYTES + name.length + QUESTION_FIXED_BYTES);
  writeUint16(head, 0, id);
  writeUint16(head, QDCOUNT_OFFSET, 1);
  head.set(name, HEADER_BYTES);
  writeUint16(head, HEADER_BYTES + name.length, type);
  writeUint16(head, HEADER_BYTES + name.length + 2, CLASS_IN);
  // IXFR has in the authority section the SOA record of the version that is there (RFC 1995 §3).
  const question = since === null ? head : Buffer.concat([head, soaRecord(since)]);
  if (since !== null) writeUint16(question, NSCOUNT_OFFSET, 1);
  const query = tsig?.sign(question) ?? question;
  for await (const message of messages(converse(host, port, query, options))) {
    const answer = readAnswer(message, id);
    // An error may come without a signature.
    if (answer.tsigAt === -1) checkRcode(answer);
    tsig?.verify(message, answer.tsigAt);
    checkRcode(answer);
    yield { message, answer };
  }
}

/** An SOA record of the name in the question, of which only the serial counts. */
function soaRecord(serial: number): Buffer {
  const record = Buffer.from(`c00c00060001000000000016${'00'.repeat(22)}`, 'hex');
  record.writeUInt32BE(serial, record.length - 20);
  return record;
}

/** Sends a message. @returns the bytes that come back. */
async function* converse(
  host: string,
  port: number,
  query: Buffer,
  options: OpenOptions,
): ByteStream {
  options.signal?.throwIfAborted();
  const timeouts = new Timeouts(options);
  const socket = connect({ host, port });
  // Who iterates gets it.
  socket.on('error', () => undefined);
  timeouts.signal.addEventListener('abort', () => socket.destroy(timeouts.signal.reason as Error));
  let problem = 'cannot be reached';
  socket.once('connect', () => (problem = 'broke off'));
  try {
    const length = Buffer.alloc(2);
    writeUint16(length, 0, query.length);
    socket.write(Buffer.concat([length, query]));
    for await (const chunk of bounded(socket as ByteStream, options.maxBytes)) {
      timeouts.restartIdle();
      yield chunk;
    }
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (typeof code !== 'string') throw error;
    throw new CatalogueError(`${problem}: ${code}`, { cause: error });
  } finally {
    timeouts.end();
  }
}

/** Each message over TCP has its length before it (RFC 1035 §4.2.2). */
async function* messages(stream: ByteStream): ByteStream {
  let rest = Buffer.alloc(0);
  for await (const chunk of stream) {
    rest = Buffer.concat([rest, chunk]);
    while (rest.length >= 2 && rest.length >= 2 + rest.readUInt16BE()) {
      const end = 2 + rest.readUInt16BE();
      yield rest.subarray(2, end);
      rest = rest.subarray(end);
    }
  }
}
