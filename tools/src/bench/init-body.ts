import { shareOf } from './figures.js';

/** The number of records of each kind in a body of `POST /init/`. */
export interface InitSize {
  readonly networks: number;
  readonly profiles: number;
  readonly domains: number;
  readonly portRanges: number;
}

/** The configuration of a large provider. The goals of docs/performance.md refer to it. */
export const FULL_SIZE: InitSize = {
  networks: shareOf(1_000_000),
  profiles: shareOf(10_000),
  domains: shareOf(1_000_000),
  portRanges: shareOf(100_000),
};

/** That of a trial, or a provider's first day. */
export const SMALL_SIZE: InitSize = { networks: 10, profiles: 10, domains: 10, portRanges: 10 };

const PIECE_CHARACTERS = 262_144;
const CATEGORIES = 20;
const APPLICATIONS = 5;
const RANGES_AN_ADDRESS = 50;

/**
 * The text of a body in chunks, generated while it is sent.
 * @param variant other variants have other networks and domains.
 * @param changedEach one of this many networks has another profile than without this parameter.
 */
export function* initBody(
  size: InitSize,
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

/** Applications of the default catalogue. */
const APPLICATION_IDS = Array.from({ length: APPLICATIONS }, (_, i) => i + 1);

function values(count: number, make: (i: number) => unknown): Generator<string> {
  const made = function* (): Generator {
    for (let i = 0; i < count; i++) yield make(i);
  };
  return jsonItems(made());
}

/** What stands between the brackets of a list, in pieces. */
export function jsonItems(items: Iterable<unknown>): Generator<string> {
  return inPieces(
    Iterator.from(items).map((item, i) => (i === 0 ? '' : ',') + JSON.stringify(item)),
  );
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
