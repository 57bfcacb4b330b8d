import { markdownTable, percentile } from '../../figures.js';
import type { Measurement } from '../dns/measure.js';
import { renderTable } from '../dns/report.js';
import type { PolicyFigures } from './policy.js';

/** All that bench:scale measures. Times are in ms. */
export interface ScaleFigures {
  readonly empty: readonly Measurement[];
  readonly full: readonly Measurement[];
  readonly policy: PolicyFigures;
  /** Starts of the process until it is ready, at full size, from the feed and from disk. */
  readonly feedMs: number;
  readonly diskMs: readonly number[];
  /** With the networks of full size and as many rules, from disk. */
  readonly smallDiskMs: readonly number[];
  /** From the commit of a change until its acknowledgement. */
  readonly changeMs: readonly number[];
}

const median = (values: readonly number[]): number => percentile(values, 0.5);

export function renderScale(figures: ScaleFigures): string {
  const { empty, full, policy } = figures;
  const load = [
    { server: 'empty', rounds: empty, failures: [] },
    { server: 'full size', rounds: full, failures: [] },
  ];
  const decisions = Object.entries(policy.decide).map(([outcome, { decideNs, hashNs }]) => {
    const ordered = policy.decideOrdered[outcome];
    const nanoseconds = [decideNs + hashNs, hashNs, ordered.decideNs + ordered.hashNs];
    const [all, hash, withOrders] = nanoseconds.map((ns) => ns.toFixed(0));
    return [outcome, all, hash, '600', withOrders];
  });
  return [
    'A resolver process, by its configuration:',
    renderTable(load, (configuration) => configuration === 'empty'),
    'A decision by itself, hashing of the name included:',
    markdownTable(['outcome', 'ns', 'of that hashing', 'goal', 'ns with orders'], decisions),
    'Memory:',
    markdownTable(['entries', 'number', 'bytes each', 'goal'], memoryRows(policy)),
    'Start and change:',
    markdownTable(['what', 'figure', 'goal'], otherRows(figures)),
  ].join('\n\n');
}

function memoryRows({ size, memory, orders, catalogueBytes }: PolicyFigures): string[][] {
  const row = (title: string, bytes: number, count: number, goal: string): string[] => {
    return [title, count.toLocaleString('en-US'), (bytes / count).toFixed(1), goal];
  };
  return [
    row('category domains', catalogueBytes, size.domains, '12'),
    row('domain rules', memory['domainRules'], size.rules, '16'),
    row('IPv4 networks', memory['ipv4Networks'], size.networks, '24'),
    row('IPv6 networks', memory['ipv6Networks'], size.networks6, '24'),
    row('NAPT ranges', memory['naptRanges'], size.napt, ''),
    row('profiles', memory['profiles'], size.profiles, ''),
    row('orders, in the table', memory['orderTables'], orders, '12'),
    row('orders, with their texts', memory['orders'], orders, ''),
  ];
}

function otherRows({ feedMs, diskMs, smallDiskMs, changeMs, policy }: ScaleFigures): string[][] {
  const seconds = (values: readonly number[]): string => `${(median(values) / 1_000).toFixed(1)} s`;
  return [
    ['process ready, full size, over the feed', seconds([feedMs]), ''],
    ['process ready, full size, from disk', seconds(diskMs), ''],
    ['process ready, as many rules as IPv4 networks, from disk', seconds(smallDiskMs), '2 s'],
    ['one domain rule, applied, p50', `${policy.changeUs.p50.toFixed(1)} µs`, '50 µs'],
    ['… p99', `${policy.changeUs.p99.toFixed(1)} µs`, ''],
    ['… committed until acknowledged, p50', `${median(changeMs).toFixed(2)} ms`, ''],
    ['… p99', `${percentile(changeMs, 0.99).toFixed(2)} ms`, ''],
  ];
}
