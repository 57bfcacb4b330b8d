import type { Profile, RuleVerdict } from '@weir/config-model';
import { parseHashKey, SuffixHashes, toWireName } from '@weir/dns-name';
import type { Client } from '../client-address.js';

export const KEY = parseHashKey('000102030405060708090a0b0c0d0e0f');

const hashes = new SuffixHashes(KEY);

/** The hashes of a name, valid until the next call. */
export function namesOf(name: string): SuffixHashes {
  hashes.compute(toWireName(name), 0);
  return hashes;
}

export function profile(id: number, more: Partial<Omit<Profile, 'id'>> = {}): Profile {
  return {
    id,
    pageId: null,
    whiteListOnly: false,
    emptyDnsAnswer: false,
    appawarePriorityOverBwlists: false,
    categoryIds: [],
    applicationRules: [],
    ...more,
  };
}

export function applicationRule(
  applicationId: number,
  verdict: RuleVerdict,
): Profile['applicationRules'][number] {
  return { applicationId, verdict };
}

/** The words of an address of 32 or 128 bits. */
export function wordsOf(family: 4 | 6, address: bigint): [number, number, number, number] {
  const full = family === 4 ? address << 96n : address;
  const word = (i: number): number => Number((full >> BigInt(96 - i * 32)) & 0xffff_ffffn);
  return [word(0), word(1), word(2), word(3)];
}

export function client(family: 4 | 6, address: bigint, port = 40_000): Client {
  return { family, words: Uint32Array.from(wordsOf(family, address)), port };
}

/** 192.0.2.x */
export function ipv4Client(host: number, port = 40_000): Client {
  return client(4, 0xc000_0200n + BigInt(host), port);
}
