import { readFileSync } from 'node:fs';
import type { SubscriberKey } from '@weir/clients';
import { parseHashKey } from '@weir/dns-name';
import type { Logger } from '@weir/ops';
import { showUpstream, type UpstreamEndpoint } from '@weir/ops/endpoint';
import { StartError } from '@weir/ops/start-error';
import { randomBytes, X509Certificate } from 'node:crypto';
import { createSecureContext, type SecureContext } from 'node:tls';
import type { SentConfiguration } from './configuration.js';
import {
  DEFAULT_CAPACITY,
  DEFAULT_WAITING_CAPACITY,
  Forwarder,
  type ForwarderOptions,
} from './upstream/forwarder.js';

/** The upstreams take at most this part of the files that the process may open; the rest is for clients. */
const PART_OF_OPEN_FILES = 4;

/**
 * The limit of open files of this process, which Node.js has raised as far as it may. `Infinity` where it cannot be
 * read: `/proc` exists on Linux only.
 */
export function openFilesLimit(file = '/proc/self/limits'): number {
  try {
    const limit = /^Max open files\s+(\d+)/m.exec(readFileSync(file, 'utf8'))?.[1];
    return limit === undefined ? Infinity : Number(limit);
  } catch {
    return Infinity;
  }
}

/**
 * How many ports each upstream gets in a thread: as many as wanted, but all together leave enough open files for
 * clients.
 * @param upstreams their number, counted once for each thread
 */
export function portsFor(wanted: number, upstreams: number, openFiles: number): number {
  const most = Math.floor(openFiles / PART_OF_OPEN_FILES / upstreams);
  return Math.max(1, Math.min(wanted, most));
}

/**
 * How many questions one thread may have in flight, or waiting. Names that nobody answers fill it, and it takes up to
 * 58 MB then. So all threads together have twice the capacity of one, but each has a quarter of it at least.
 * @param divisor the number of threads, where all have the same
 */
export function capacityOf(whole: number, divisor: number): number {
  return Math.max(whole / 4, Math.min(whole, Math.floor((2 * whole) / divisor)));
}

/** Times and capacities in place of the defaults. */
export type ForwardingLimits = Pick<
  ForwarderOptions,
  'attemptTimeoutMs' | 'queryTimeoutMs' | 'capacity' | 'waitingCapacity'
>;

interface ForwarderDependencies extends Pick<
  ForwarderOptions,
  'calls' | 'upstreams' | 'events' | 'counts' | 'generation' | 'turn' | 'nowMs' | 'poller'
> {
  readonly forwarding: ForwardingLimits | undefined;
  readonly subscriber: SubscriberKey;
  /** An upstream that was down answers again. */
  readonly onRecovered: () => void;
  /** How many threads have a forwarder. */
  readonly threads: number;
  /** See `capacityOf`. With two UDP lanes and two stream lanes, 3 for the former and 6 for the latter. */
  readonly capacityDivisor: number;
  readonly log: Pick<Logger, 'info' | 'warn' | 'error'>;
}

/**
 * Before any thread forwards.
 * @throws StartError when an upstream is trusted that is not asked, or a file is not usable
 */
export function checkUpstreams(
  { UPSTREAM_TRUST_AD: trusted = [], UPSTREAM_TLS_CA: authorities }: SentConfiguration,
  upstreams: readonly UpstreamEndpoint[],
): void {
  findAdTrusted(upstreams, trusted);
  trustedAuthorities(authorities);
}

/** After `checkUpstreams`. */
export function createForwarder(
  configuration: SentConfiguration,
  dependencies: ForwarderDependencies,
): Forwarder {
  const { forwarding, subscriber, onRecovered, threads, capacityDivisor, log, ...others } =
    dependencies;
  const { upstreams } = others;
  return new Forwarder({
    ...others,
    capacity: capacityOf(DEFAULT_CAPACITY, capacityDivisor),
    waitingCapacity: capacityOf(DEFAULT_WAITING_CAPACITY, capacityDivisor),
    ...forwarding,
    hasCookies: configuration.UPSTREAM_COOKIES,
    adTrusted: findAdTrusted(upstreams, configuration.UPSTREAM_TRUST_AD ?? []),
    portsPerUpstream: upstreamPorts(configuration, threads, upstreams.length, log),
    staleAfterMs: configuration.CACHE_STALE_AFTER_MS,
    share: {
      subscriber,
      maxQuestions: configuration.CLIENT_UPSTREAM_QUERIES,
      maxWaiting: configuration.CLIENT_WAITING_QUERIES,
    },
    zones: {
      maxQuestions: configuration.ZONE_UPSTREAM_QUERIES,
      key: parseHashKey(randomBytes(16).toString('hex')),
    },
    stateListener: {
      onRecovered,
      onReport: ({ name }, answers) => {
        if (answers) log.info({ upstream: name }, 'upstream answers again');
        else log.warn({ upstream: name }, 'upstream does not answer');
      },
    },
    secureContext: trustedAuthorities(configuration.UPSTREAM_TLS_CA),
    onTlsError: ({ name }, { message: reason }) =>
      log.error({ upstream: name, reason }, 'upstream is not trusted: TLS has failed'),
  });
}

function findAdTrusted(
  upstreams: readonly UpstreamEndpoint[],
  trusted: readonly UpstreamEndpoint[],
): ReadonlySet<UpstreamEndpoint> {
  const names = new Set(trusted.map(showUpstream));
  const found = upstreams.filter((upstream) => names.delete(showUpstream(upstream)));
  for (const name of names) {
    throw new StartError(`UPSTREAM_TRUST_AD: ${name} is not among the upstreams`);
  }
  return new Set(found);
}

function upstreamPorts(
  { UPSTREAM_PORTS: wanted }: SentConfiguration,
  threads: number,
  upstreamCount: number,
  log: Pick<Logger, 'warn'>,
): number {
  const openFiles = openFilesLimit();
  const ports = portsFor(wanted, threads * upstreamCount, openFiles);
  if (ports < wanted) log.warn({ ports, openFiles }, 'fewer UPSTREAM_PORTS: too few open files');
  return ports;
}

/**
 * TLS for clients that trust only the certificate authorities of the file, or those of Node.js without a file.
 * @throws StartError when the file cannot be read or has no certificate
 */
function trustedAuthorities(file: string | undefined): SecureContext | undefined {
  if (file === undefined) return undefined;
  try {
    const ca = readFileSync(file);
    // Throws when there is none; the context ignores such a file.
    new X509Certificate(ca);
    return createSecureContext({ ca });
  } catch (error) {
    throw new StartError(`UPSTREAM_TLS_CA is not usable: ${String(error)}`);
  }
}
