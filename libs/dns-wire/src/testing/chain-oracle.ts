import { decodeMessage, decodeName, type DecodedRecord } from './decode.js';

/** What `AnswerChain` should find, by names as text. */
export interface OracleChain {
  readonly targets: ReadonlySet<string>;
  /** For each record of the answer section: whether it belongs to the chain. */
  readonly members: readonly boolean[];
  readonly isMalformed: boolean;
}

const [CNAME, DNAME, RRSIG, SVCB, HTTPS] = [5, 39, 46, 64, 65] as const;
const MAX_NAME_TEXT = 253;

const isService = (type: number): boolean => type === SVCB || type === HTTPS;

/** Reads the chain of an answer: begins with the queried name, and applies each rule until nothing is new. */
export function slowChain(bytes: Uint8Array): OracleChain {
  // The bounds of a record do not depend on where its pointers lead.
  const { questions, answers } = decodeMessage(bytes, { followPointers: false });
  const buffer = Buffer.from(bytes);
  const nameAt = (at: number, end: number): string | null => {
    try {
      return decodeName(buffer.subarray(0, end), at).name.toLowerCase();
    } catch {
      return null; // the oracle reports a fault by throwing
    }
  };
  const owners = answers.map(({ at }) => nameAt(at, bytes.length));
  const links = new Set([questions[0].qname.toLowerCase()]);
  const others = new Set<string>();
  let isMalformed = false;

  const targetOf = ({ rdataAt, rdata, type }: DecodedRecord): string | null => {
    const priority = isService(type) ? 2 : 0;
    return nameAt(rdataAt + priority, rdataAt + rdata.length);
  };
  const isOfDname = ({ type, rdata }: DecodedRecord): boolean =>
    type === DNAME || (type === RRSIG && rdata.length >= 2 && rdata.readUInt16BE(0) === DNAME);
  const namesBelow = (owner: string): string[] =>
    [...links].filter((name) => name !== owner && (owner === '.' || name.endsWith(`.${owner}`)));

  for (let size = -1; size !== links.size;) {
    size = links.size;
    for (const [i, record] of answers.entries()) {
      const owner = owners[i];
      if (owner === null) continue;
      const target = targetOf(record);
      const takes = record.type === CNAME || record.type === DNAME || isService(record.type);
      const below = record.type === DNAME ? namesBelow(owner) : [];
      if (takes && (links.has(owner) || below.length > 0) && target === null) {
        isMalformed = true;
        continue;
      }
      if (target === null) continue;
      if (links.has(owner) && record.type === CNAME) links.add(target);
      if (links.has(owner) && record.type === DNAME) others.add(target);
      if (links.has(owner) && isService(record.type) && target !== '.') others.add(target);
      for (const name of below) {
        const prefix = owner === '.' ? `${name}.` : name.slice(0, -owner.length);
        const moved = target === '.' ? prefix.slice(0, -1) : prefix + target;
        if (moved.length <= MAX_NAME_TEXT) links.add(moved);
        else others.add(target);
      }
      if (links.size > 60) return { targets: links, members: [], isMalformed };
    }
  }
  const members = answers.map((record, i) => {
    const owner = owners[i];
    if (owner === null) return false;
    return links.has(owner) || (isOfDname(record) && namesBelow(owner).length > 0);
  });
  const targets = new Set([...links, ...others]);
  targets.delete(questions[0].qname.toLowerCase());
  return { targets, members, isMalformed };
}
