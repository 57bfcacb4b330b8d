import { proxyHeader } from '../../deployment/dns-message.js';
import {
  naptRow,
  network6Row,
  networkRow,
  ownerOf,
  ruleOwner,
  shareNames,
  type Size,
  randomNumbers,
  writeName,
} from './policy/configuration.js';

/**
 * Datagrams for the load generator, one after the other: length and offset of the message id as 16 bits each,
 * little-endian; then the bytes.
 */
export const RECORD_HEADER_BYTES = 4;

/** A client as a load balancer names it. */
interface LoadClient {
  /** One word in the order of the network, or four for IPv6. */
  readonly words: readonly number[];
  readonly port: number;
}

/** One question, recursion desired. The id is 0: the sender writes it. */
const QUERY_HEADER = Buffer.from('000001000001000000000000', 'hex');
/** Type A, class IN. */
const QUERY_END = Buffer.from('00010001', 'hex');

/** Collects datagrams: a PROXY header (version 2) with the client, then a query for the A record of a name. */
export class QueryFile {
  private readonly records: Buffer[] = [];

  /** The records so far. */
  get content(): Uint8Array {
    return Buffer.concat(this.records);
  }

  get count(): number {
    return this.records.length;
  }

  /** @param name a wire name */
  add({ words, port }: LoadClient, name: Uint8Array): void {
    const address = Buffer.alloc(words.length * 4);
    for (const [i, word] of words.entries()) address.writeUInt32BE(word, i * 4);
    const header = proxyHeader(address, port);
    const datagram = Buffer.concat([header, QUERY_HEADER, name, QUERY_END]);
    const record = Buffer.alloc(RECORD_HEADER_BYTES);
    record.writeUInt16LE(datagram.length, 0);
    record.writeUInt16LE(header.length, 2);
    this.records.push(Buffer.concat([record, datagram]));
  }
}

/**
 * Ranks from 0 to `count` − 1 by Zipf's law: rank r has the weight (r + 1)^−exponent. Names that are asked for follow
 * it with an exponent of about 0.91 (Jung and others, "DNS performance and the effectiveness of caching", 2002).
 */
export class Zipf {
  /** Sums of weights up to and including each rank. */
  private readonly sums: Float64Array;

  constructor(count: number, exponent: number) {
    this.sums = new Float64Array(count);
    let sum = 0;
    for (let rank = 0; rank < count; rank++) {
      sum += (rank + 1) ** -exponent;
      this.sums[rank] = sum;
    }
  }

  /** The rank of a random number from 0 up to, but not including, 1. */
  rank(random: number): number {
    const wanted = random * (this.sums.at(-1) ?? 0);
    let [low, high] = [0, this.sums.length - 1];
    while (low < high) {
      const middle = (low + high) >>> 1;
      if ((this.sums[middle] ?? 0) > wanted) high = middle;
      else low = middle + 1;
    }
    return low;
  }
}

/** What the load generator sends. */
export interface Load {
  readonly queries: QueryFile;
  /** Each name once, from a client without a profile: then all answers are cached. */
  readonly warmUp: QueryFile;
}

const EXPONENT = 0.91;
/** One of so many names is listed in a category. Where the client's profile blocks it, the answer is the block page. */
const LISTED = 8;
/** One of so many queries is for a name that has a rule of the client's own profile. */
const OWN_RULE = 20;
/** One of so many clients is behind a NAPT range; of the others, one of so many has IPv6. */
const NAPT = 3;
const IPV6 = 6;
const TWO_TO_32 = 2 ** 32;
const NAME_BYTES = 64;
const DEFAULT_PORT = 40_000;

/** Outside all networks of the configuration. */
const NOBODY: LoadClient = { words: [0x3fff_0000, 0, 0, 1], port: DEFAULT_PORT };

/** The same queries at every run, for a configuration of this size. */
export function makeLoad(size: Size, names: number, count: number): Load {
  const random = randomNumbers(4_711);
  const zipf = new Zipf(names, EXPONENT);
  const { categoryDomains } = shareNames(size.domains);
  const queries = new QueryFile();
  const warmUp = new QueryFile();
  const asked = new Set<string>();
  const name = new Uint8Array(NAME_BYTES);
  for (let i = 0; i < count; i++) {
    const { client, profile } = pickClient(size, random);
    const rule = i % OWN_RULE === 0 ? ruleOf(profile, size, random) : null;
    const rank = zipf.rank(random() / TWO_TO_32);
    let end: number;
    if (rule !== null) end = writeName(name, 0, 'r', rule);
    else if (rank % LISTED === LISTED - 1) end = writeName(name, 0, 'c', rank % categoryDomains, 3);
    else end = writeName(name, 0, 'n', rank, 2 + (rank % 3));
    const wireName = name.subarray(0, end);
    queries.add(client, wireName);
    const key = Buffer.from(wireName).toString('latin1');
    if (asked.has(key)) continue;
    asked.add(key);
    warmUp.add(NOBODY, wireName);
  }
  return { queries, warmUp };
}

function pickClient(
  size: Size,
  random: () => number,
): { readonly client: LoadClient; readonly profile: number } {
  const kind = random();
  if (kind % NAPT === 0) {
    const i = random() % size.napt;
    const [address, lower] = naptRow(i, 0);
    const client: LoadClient = { words: [address], port: lower + (random() & 1_023) };
    return { client, profile: ownerOf(i, size.profiles) };
  }
  if ((kind >>> 8) % IPV6 === 0) {
    const i = random() % size.networks6;
    const [first = 0, second = 0] = network6Row(i, 0);
    const words = [first, second, 0, random()];
    const client: LoadClient = { words, port: DEFAULT_PORT };
    return { client, profile: ownerOf(i, size.profiles) };
  }
  const i = random() % size.networks;
  const [address, length] = networkRow(i, 0);
  const host = length === 32 ? 0 : random() & (0xffff_ffff >>> length);
  const client: LoadClient = { words: [(address | host) >>> 0], port: DEFAULT_PORT };
  return { client, profile: ownerOf(i, size.profiles) };
}

/** A rule of the profile; null where it has none, which is so for every tenth. */
function ruleOf(profile: number, size: Size, random: () => number): number | null {
  const each = size.rules / size.profiles;
  const rule = Math.ceil(profile * each) + (random() % Math.max(1, Math.floor(each)));
  return rule < size.rules && ruleOwner(rule, size) === profile ? rule : null;
}
