import { toWireName } from '@weir/dns-name';
import {
  answerQuery,
  FLAGS_RESPONSE,
  pointer,
  QNAME,
  questionEnd,
  record,
  response,
  UPSTREAM_ADDRESS,
} from '../deployment/dns-message.js';
import { SLOW_MS, ZONES } from './target.js';

/** What the upstream sends for a query, and how long after it. */
interface Answer {
  readonly packet: Buffer;
  readonly afterMs: number;
}

const FLAGS_NXDOMAIN = 0x8183;
const FLAGS_TRUNCATED = 0x8380;
const [TYPE_A, TYPE_CNAME, TYPE_SOA, TYPE_TXT] = [1, 5, 6, 16];
const ADDRESS = Buffer.from(UPSTREAM_ADDRESS.split('.').map(Number));

const HUGE_TEXT = Buffer.concat([Buffer.of(240), Buffer.alloc(240, 'x')]);
const HUGE = Array.from({ length: 240 }, () => record(QNAME, TYPE_TXT, HUGE_TEXT));

const CHAIN_LENGTH = 40;

/** The empty names of MNAME and RNAME, and five numbers: the last one is the TTL of the absence (RFC 2308 §4). */
const SOA_DATA = Buffer.from([...Buffer.alloc(18), 0, 0, 0, 60]);
const ABSENCE = [record(Buffer.from(toWireName(ZONES.absent)), TYPE_SOA, SOA_DATA)];

/** The answer to a query of a resolver; null: none. */
export function answerFor(query: Buffer, isTcp: boolean): Answer | null {
  const now = (packet: Buffer) => ({ packet, afterMs: 0 });
  switch (zoneOf(query)) {
    case ZONES.dead:
      return null;
    case ZONES.slow:
      return { packet: answerQuery(query), afterMs: SLOW_MS };
    case ZONES.absent:
      return now(response(query, FLAGS_NXDOMAIN, [], ABSENCE));
    case ZONES.chain:
      return now(response(query, FLAGS_RESPONSE, chain(query)));
    case ZONES.huge:
      return now(isTcp ? response(query, FLAGS_RESPONSE, HUGE) : response(query, FLAGS_TRUNCATED));
    default:
      return now(answerQuery(query));
  }
}

const FIRST_LABEL = 12;
const LEVELS = 3;

/** Each target is a name beside the queried one, such as `c7.chain.example.net`, and owns the next record. */
function chain(query: Buffer): Buffer[] {
  const zone = pointer(FIRST_LABEL + 1 + query.readUInt8(FIRST_LABEL));
  const answers: Buffer[] = [];
  let owner = QNAME;
  let end = questionEnd(query);
  for (let i = 0; i < CHAIN_LENGTH; i++) {
    const label = Buffer.from(`c${i}`);
    const target = Buffer.concat([Buffer.of(label.length), label, zone]);
    const answer = record(owner, TYPE_CNAME, target);
    answers.push(answer);
    end += answer.length;
    owner = pointer(end - target.length);
  }
  return [...answers, record(owner, TYPE_A, ADDRESS)];
}

/** The last three labels of the name in lower case. */
function zoneOf(query: Buffer): string {
  const labels: string[] = [];
  let at = FIRST_LABEL;
  for (let length = query.readUInt8(at); length !== 0; length = query.readUInt8(at)) {
    labels.push(query.toString('latin1', at + 1, at + 1 + length).toLowerCase());
    at += 1 + length;
  }
  return labels.slice(-LEVELS).join('.');
}
