// Queries whose outcome is known: wire names in one buffer, addresses beside them, read in order as packets are.
import { naptRow, networkRow, network6Row, ownerOf, ruleOwner } from './configuration.mjs';
import { randomNumbers, writeName } from './names.mjs';

const NAME_BYTES = 64;
const LABELS = 5;

class Queries {
  constructor(count) {
    this.count = count;
    this.names = new Uint8Array(count * NAME_BYTES);
    this.words = new Uint32Array(count * 4);
    this.families = new Uint8Array(count);
    this.ports = new Uint16Array(count);
  }

  name(at, letter, n) {
    writeName(this.names, at * NAME_BYTES, letter, n, LABELS);
  }

  /** Any address in network i: of each kind of subscriber as often as there are of them. */
  subscriber(at, random, i, size) {
    const kind = random() % 14;
    this.families[at] = kind < 10 || kind > 11 ? 4 : 6;
    if (kind < 10) {
      const [address, length] = networkRow(i, 0);
      const host = length === 32 ? 0 : random() & (0xffff_ffff >>> length);
      this.words[at * 4] = address | host;
      return;
    }
    if (kind < 12) {
      this.words.set(network6Row(i % size.networks6, 0).slice(0, 4), at * 4);
      this.words[at * 4 + 3] = random();
      return;
    }
    const [address, lowerPort] = naptRow(i % size.napt, 0);
    this.words[at * 4] = address;
    this.ports[at] = lowerPort + (random() & 1023);
  }

  /** Fills `client` with query i. @returns the offset of its name. */
  load(i, client) {
    const at = i * 4;
    client.family = this.families[i];
    client.words[0] = this.words[at];
    client.words[1] = this.words[at + 1];
    client.words[2] = this.words[at + 2];
    client.words[3] = this.words[at + 3];
    client.port = this.ports[i];
    return i * NAME_BYTES;
  }
}

/**
 * One pool of queries for each outcome. `wanted` tells whether a decision has that outcome. Each query was decided
 * once, and those with another outcome were replaced.
 */
export function makeQueries(policy, { names, client, out }, size, catalogue, count, reasons) {
  const outcomes = {
    'no profile': (d) => d.reason === reasons.noProfile,
    'nothing matches': (d) => d.reason === reasons.none,
    'domain rule': (d) => d.reason === reasons.domainRule,
    'application rule': (d) => d.reason === reasons.applicationRule,
    category: (d) => d.reason === reasons.category,
    white_list_only: (d) => d.reason === reasons.whiteListOnly,
    'Zipf names, a third behind NAPT': () => true,
  };
  const pools = {};
  for (const [outcome, wanted] of Object.entries(outcomes)) {
    if (size.profiles === 0 && outcome !== 'no profile') continue;
    const queries = new Queries(count);
    const random = randomNumbers(outcome.length * 7919);
    for (let i = 0, tries = 0; i < count; tries++) {
      if (tries > count * 200) throw new Error(`no queries with the outcome: ${outcome}`);
      draft(queries, i, outcome, random, size, catalogue);
      names.compute(queries.names, queries.load(i, client));
      policy.decide(client, names, Date.UTC(2026, 0, 7), out);
      if (wanted(out)) i++;
    }
    pools[outcome] = queries;
  }
  return pools;
}

function draft(queries, at, outcome, random, size, catalogue) {
  queries.words.fill(0, at * 4, at * 4 + 4);
  queries.ports[at] = 40_000;
  queries.name(at, 'n', random());
  if (outcome === 'no profile') {
    queries.families[at] = 4;
    queries.words[at * 4] = 0x0b00_0000 | (random() & 0xff_ffff);
    return;
  }
  if (outcome.startsWith('Zipf')) {
    draftTypical(queries, at, random, size, catalogue);
    return;
  }
  const network = random() % size.networks;
  queries.subscriber(at, random, network, size);
  if (outcome === 'domain rule') {
    // A rule of the profile of that network.
    const id = ownerOf(network, size.profiles);
    const each = size.rules / size.profiles;
    const rule = Math.floor(id * each) + (random() % Math.floor(each));
    if (ruleOwner(rule, size) === id) queries.name(at, 'r', rule);
  }
  if (outcome === 'application rule')
    queries.name(at, 'a', random() % catalogue.applicationDomains);
  if (outcome === 'category') queries.name(at, 'c', random() % catalogue.categoryDomains);
}

/** Names by Zipf's law (exponent 1) among a million, every tenth of a category; every third client behind NAPT. */
function draftTypical(queries, at, random, size, catalogue) {
  const rank = Math.floor(Math.exp((random() / 2 ** 32) * Math.log(1e6)));
  if (rank % 10 === 0) queries.name(at, 'c', rank % catalogue.categoryDomains);
  else queries.name(at, 'n', rank);
  queries.families[at] = 4;
  if (random() % 3 === 0) {
    const [address, lowerPort] = naptRow(random() % size.napt, 0);
    queries.words[at * 4] = address;
    queries.ports[at] = lowerPort + (random() & 1023);
    return;
  }
  const [address, length] = networkRow(random() % size.networks, 0);
  queries.words[at * 4] = address | (length === 32 ? 0 : random() & (0xffff_ffff >>> length));
}
