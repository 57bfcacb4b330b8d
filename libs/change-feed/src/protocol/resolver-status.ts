/** An upstream of a resolver, and whether it answers. */
export interface UpstreamStatus {
  /** As UPSTREAMS names it. */
  readonly address: string;
  readonly state: (typeof UPSTREAM_STATES)[number];
}

export const UPSTREAM_STATES = ['up', 'down'] as const;

/** How a resolver does, as it says with each lease. Rates and ratios are those of the last seconds. */
export interface ResolverStatus {
  /** Address and port on which it answers. */
  readonly address: string;
  /** Of Weir. */
  readonly version: string;
  /** Version of the catalogue image in use; null: there is none, or it is an older one from the disk. */
  readonly catalogue: number | null;
  /** Threads that answer from memory. */
  readonly threads: number;
  readonly answersPerSecond: number;
  /** Of the lookups in its cache; null: there were none. */
  readonly cacheHitRatio: number | null;
  /** Of its answers; null: there were none. */
  readonly blockedRatio: number | null;
  readonly upstreams: readonly UpstreamStatus[];
}

/** An upstream over TLS has a domain name in its text. */
const MAX_TEXT_LENGTH = 400;
const MAX_UPSTREAMS = 16;

/** A status on its way; undefined: there is none, or this process cannot read it, and ignores it alone. */
export function readResolverStatus(value: unknown): ResolverStatus | undefined {
  const said = (value ?? {}) as Partial<Record<keyof ResolverStatus, unknown>>;
  const { address, version, catalogue, threads, answersPerSecond } = said;
  const { cacheHitRatio, blockedRatio, upstreams } = said;
  if (!isText(address) || !isText(version) || !isCount(threads) || !isAmount(answersPerSecond))
    return undefined;
  if (catalogue !== null && !isCount(catalogue)) return undefined;
  if (!isRatio(cacheHitRatio) || !isRatio(blockedRatio)) return undefined;
  if (!Array.isArray(upstreams) || upstreams.length > MAX_UPSTREAMS) return undefined;
  const known = upstreams.map(readUpstream);
  if (!known.every((one) => one !== null)) return undefined;
  return {
    ...{ address, version, catalogue, threads, answersPerSecond, cacheHitRatio, blockedRatio },
    upstreams: known,
  };
}

function readUpstream(value: unknown): UpstreamStatus | null {
  const { address, state: said } = (value ?? {}) as Partial<Record<keyof UpstreamStatus, unknown>>;
  const state = UPSTREAM_STATES.find((one) => one === said);
  return isText(address) && state !== undefined ? { address, state } : null;
}

function isText(value: unknown): value is string {
  return typeof value === 'string' && value !== '' && value.length <= MAX_TEXT_LENGTH;
}

function isCount(value: unknown): value is number {
  return isAmount(value) && Number.isSafeInteger(value);
}

function isAmount(value: unknown): value is number {
  return typeof value === 'number' && value >= 0 && Number.isFinite(value);
}

function isRatio(value: unknown): value is number | null {
  return value === null || (isAmount(value) && value <= 1);
}
