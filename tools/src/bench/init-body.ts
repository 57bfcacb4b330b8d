import { shareOf } from './figures.js';

/** The configuration of a large provider. The goals of docs/performance.md refer to it. */
export const FULL_SIZE = {
  networks: shareOf(1_000_000),
  profiles: shareOf(10_000),
  domains: shareOf(1_000_000),
  portRanges: shareOf(100_000),
};

const PIECE_CHARACTERS = 262_144;
const CATEGORIES = 20;
/** Applications of the default catalogue. */
const APPLICATION_IDS = [1, 2, 3, 4, 5];
const RANGES_AN_ADDRESS = 50;

/**
 * The text of a body in chunks, generated while it is sent.
 * @param variant other variants have other networks and domains.
 * @param changedEach one of this many networks has another profile than without this parameter.
 */
export function* initBody(
  size: typeof FULL_SIZE,
  variant: number,
  changedEach?: number,
): Generator<string> {
  const profileOf = (i: number): number =>
    (changedEach !== undefined && i % changedEach === 0 ? i + 1 : i) % size.profiles;
  yield '{"blockpages":[{"id":1,"type":0},{"id":2,"type":1}],"profiles":[';
  yield* values(size.profiles, (i) => ({
    profile: { id: i, page_id: 1 + (i % 2), empty_dns_answer: i % 3 === 0 },
    cat_ids: Array.from({ length: CATEGORIES }, (_, k) => 1 + ((i + k) % 60)),
    apps: APPLICATION_IDS.map((app_id) => ({ app_id, status: i % 2 === 0 ? 'deny' : 'allow' })),
  }));
  yield '],"bw_lists":[';
  const each = Math.ceil(size.domains / size.profiles);
  yield* values(size.profiles, (i) => ({
    profile_id: i,
    type: i % 2 === 0 ? 'deny' : 'allow',
    domains: Array.from({ length: each }, (_, k) => `host-${k}.site-${i}-${variant}.example.com`),
  }));
  yield '],"napts":[';
  const width = Math.floor(65_536 / RANGES_AN_ADDRESS);
  yield* values(size.portRanges, (i) => {
    const lower = (i % RANGES_AN_ADDRESS) * width;
    return {
      ip: ipv4(0xc000_0000 + Math.floor(i / RANGES_AN_ADDRESS)),
      lower_port_bound: lower,
      upper_port_bound: lower + width - 1,
      profile_id: i % size.profiles,
    };
  });
  yield '],"nets":[';
  yield* values(size.networks, (i) => ({
    ip: ipv4(0x0a00_0000 + variant + i * 4),
    prefix_len: 30,
    profile_id: profileOf(i),
  }));
  yield '],"nets6":[]}';
}

function values(count: number, make: (i: number) => unknown): Generator<string> {
  return jsonItems(new Array(count).keys().map(make));
}

/** What stands between the brackets of a list, in pieces. */
export function jsonItems(items: Iterable<unknown>): Generator<string> {
  const texts = Iterator.from(items).map((item) => JSON.stringify(item));
  return inPieces(texts.map((text, i) => (i === 0 ? text : `,${text}`)));
}

/** The same text in pieces of a size that is quick to send or to write. */
export function* inPieces(texts: Iterable<string>): Generator<string> {
  let piece = '';
  for (const text of texts) {
    piece += text;
    if (piece.length < PIECE_CHARACTERS) continue;
    yield piece;
    piece = '';
  }
  yield piece;
}

/** In dotted notation. */
export function ipv4(address: number): string {
  return [address >>> 24, (address >>> 16) & 255, (address >>> 8) & 255, address & 255].join('.');
}
