import { setTimeout as sleep } from 'node:timers/promises';
import { print } from '../command.js';
import { Deployment } from '../deployment/deployment.js';
import { DnsClient } from '../deployment/dns-client.js';
import { ManagementClient } from '../deployment/management-client.js';
import { TcpProxy } from '../deployment/proxies.js';
import { ROOT } from '../services/files.js';
import { findFreePorts } from '../services/ports.js';
import { until } from '../services/until.js';
import type { WeirProcess } from '../services/weir-process.js';
import {
  type DnsCount,
  missingProgram,
  StallWatch,
  startDnsdist,
  startDnsLoad,
  startVisitors,
  startWriters,
  SUBSCRIBER,
  TIMEOUT_SECONDS,
} from './loads.js';

/** A process behind the balancer. */
interface Target {
  readonly port: number;
  /** Base URL of its `/readyz`. */
  readonly opsUrl: string;
}

/** How often each target is probed, and so how late the balancer notices that one is not ready. */
const PROBE_MS = 500;

/** Like a Kubernetes Service: a new connection goes to the next ready target, an open connection stays where it is. */
class Balancer implements AsyncDisposable {
  private readonly ready = new Set<Target>();
  private readonly proxy: TcpProxy;
  private readonly stopping = new AbortController();
  private probing: Promise<unknown> = Promise.resolve();
  private next = 0;

  constructor(private readonly targets: readonly Target[]) {
    this.proxy = new TcpProxy(() => {
      const ready = this.targets.filter((target) => this.ready.has(target));
      return ready[this.next++ % ready.length]?.port;
    });
  }

  async start(port: number): Promise<void> {
    await this.proxy.listen(port);
    this.probing = Promise.all(this.targets.map((target) => this.probe(target)));
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.stopping.abort();
    await this.probing;
    await this.proxy.close();
  }

  /** Whether all targets are ready. */
  get areAllReady(): boolean {
    return this.ready.size === this.targets.length;
  }

  private async probe(target: Target): Promise<void> {
    const { signal } = this.stopping;
    while (!signal.aborted) {
      const isReady = await fetch(`${target.opsUrl}/readyz`, { signal }).then(
        (response) => response.ok,
        () => false, // nothing listens there: it is being restarted
      );
      if (isReady) this.ready.add(target);
      else this.ready.delete(target);
      await sleep(PROBE_MS, undefined, { signal }).catch(() => undefined);
    }
  }
}

interface RollingOptions {
  /** The folder of the release that is upgraded from, ready to run. Null: there is none. */
  readonly previous: string | null;
  /** An empty folder for data and logs. */
  readonly folder: string;
  /** Restarts of each process. */
  readonly rounds: number;
  /** `DRAIN_S` of every process. */
  readonly drainSeconds: number;
}

interface RollingResult {
  readonly restarts: number;
  readonly changes: number;
  readonly pages: number;
  /** Null: no DNS load, because a program is not installed. */
  readonly queries: DnsCount | null;
  readonly violations: readonly string[];
}

const WRITERS = 3;
const READERS = 2;
const BALANCED_DEADLINE_MS = 120_000;
/** A resolver with this many new queries gets real ones from dnsdist: health checks are far fewer. */
const MIN_NEW_QUERIES = 30;

/** Restarts every process under load, one of each kind at a time. */
export async function runRolling(options: RollingOptions): Promise<RollingResult> {
  const { folder, drainSeconds } = options;
  const violations: string[] = [];
  await using deployment = await Deployment.create({
    ...{ folder, replicas: 2, resolvers: 2, blockPages: 2, withoutProxies: true, fsync: false },
    // A busy machine must not look like a late change.
    variables: { DRAIN_S: String(drainSeconds), PROPAGATION_TIMEOUT_MS: '30000' },
    onUnexpectedExit: (explanation) => violations.push(explanation),
  });
  const { replicas, resolvers, blockPages } = deployment;
  for (const process of [...replicas, ...resolvers, ...blockPages]) {
    process.releaseRoot = options.previous ?? ROOT;
  }
  await deployment.start();
  return await runOn(deployment, options, violations);
}

async function runOn(
  deployment: Deployment,
  options: RollingOptions,
  violations: string[],
): Promise<RollingResult> {
  const { folder, rounds } = options;
  const { replicas, resolvers, blockPages, managementPorts, pagePorts, dnsPorts } = deployment;
  const missing = missingProgram();
  if (missing !== null) print(`SKIPPED: load over DNS, because ${missing} is not installed`);
  const [apiPort, pagePort, dnsPort] = await findFreePorts(3);
  await using api = new Balancer(targets(replicas, managementPorts));
  await using pages = new Balancer(targets(blockPages, pagePorts));
  using client = new ManagementClient(apiPort, deployment.secrets.token);
  await using dns = new DnsClient(TIMEOUT_SECONDS * 1_000);
  using stalls = new StallWatch();
  await using dnsdist = missing === null ? startDnsdist(folder, dnsPort, dnsPorts) : null;
  /** Waits until every load balancer uses all of its targets again. */
  const settle = async (): Promise<void> => {
    await waitFor(
      'every load balancer uses all of its targets',
      () => api.areAllReady && pages.areAllReady,
    );
    if (dnsdist !== null) for (const resolver of resolvers) await waitForQueries(resolver);
  };
  await api.start(apiPort);
  await pages.start(pagePort);
  await waitFor('the control planes are ready', () => api.areAllReady);
  await setUp(client);
  const stopDnsLoad = dnsdist === null ? null : startDnsLoad(folder, dnsPort, stalls);
  await settle();
  const writers = startWriters(WRITERS, stalls, client, dns, dnsdist && dnsPort);
  const readers = startVisitors(READERS, stalls, pagePort);
  let restarts = 0;
  // The nth process of every kind together.
  for (let i = 0; i < 2 * rounds; i++) {
    const group = [replicas, resolvers, blockPages].map((kind) => kind[i % 2]);
    for (const process of group) process.releaseRoot = ROOT;
    await Promise.all(group.map((one) => one.restart((text) => violations.push(text))));
    restarts += group.length;
    await settle();
  }
  await Promise.all([writers.stop(), readers.stop()]);
  const queries = (await stopDnsLoad?.()) ?? null;
  violations.push(...writers.violations, ...readers.violations, ...faultsOf(queries));
  return { restarts, changes: writers.made, pages: readers.made, queries, violations };
}

function targets(processes: readonly WeirProcess[], ports: readonly number[]) {
  return processes.map(({ opsUrl }, i) => ({ port: ports[i], opsUrl }));
}

async function setUp(client: ManagementClient): Promise<void> {
  await client.change('POST', '/blockpage/', { id: 1, type: 0 });
  await client.change('POST', '/profiles/', { profile: { id: 1, page_id: null } });
  await client.change('POST', '/net/', { ip: SUBSCRIBER, profile_id: 1 });
  const body = { type: 'deny', domain: 'blocked.example.com' };
  await client.change('POST', '/profile/1/bw_list', body);
}

/** Waits until dnsdist sends queries to a resolver, more than its health checks. */
async function waitForQueries(resolver: WeirProcess): Promise<void> {
  const answered = (): Promise<number> =>
    resolver.metric('weir_resolver_queries_total').catch(() => 0);
  const before = await answered();
  await waitFor(`dnsdist sends queries to ${resolver.name}`, async () => {
    return (await answered()) - before > MIN_NEW_QUERIES;
  });
}

async function waitFor(what: string, condition: () => boolean | Promise<boolean>): Promise<void> {
  if (!(await until(condition, BALANCED_DEADLINE_MS)))
    throw new Error(`timed out waiting until ${what}`);
}

function faultsOf(queries: DnsCount | null): readonly string[] {
  if (queries === null) return [];
  const faults = queries.lost > 0 ? [`${queries.lost} of ${queries.sent} queries were lost`] : [];
  if (queries.errors > 0) faults.push(`${queries.errors} queries were answered with an error`);
  return faults;
}

/** Of the violations. */
const MAX_LINES = 20;

/** The result of a run as text. */
export function renderRolling(result: RollingResult): string {
  const { restarts, changes, pages, queries, violations } = result;
  const dns =
    queries === null ? 'none' : `${queries.sent}, of which ${queries.lost} were not answered`;
  return [
    `Restarts         ${restarts}`,
    `DNS queries      ${dns}`,
    `Changes          ${changes}`,
    `Block pages      ${pages}`,
    `Violations       ${violations.length}`,
    ...violations.slice(0, MAX_LINES).map((violation) => `  ${violation}`),
  ].join('\n');
}
