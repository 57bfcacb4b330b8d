import { percentile } from '../../percentile.js';
import { markdownTable } from '../../markdown-table.js';
import type { PolicyFigures } from './policy.js';
import type { LoadPhase, LoadRound } from './resolver.js';

/** All that bench:scale measures. Times are in ms. */
export interface ScaleFigures {
  readonly empty: readonly LoadRound[];
  readonly full: readonly LoadRound[];
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
const percent = (share: number): string => `${(share * 100).toFixed(0)} %`;

const LOAD_FIGURES = [
  'CPU µs',
  'steady CPU µs',
  'kq/s',
  'p50 ms',
  'p99 ms',
  'blocked',
  'lost',
  'MiB',
];

export function renderScale(figures: ScaleFigures): string {
  const { empty, full, policy } = figures;
  const load = [
    ['empty', ...loadCells(empty)],
    ['full size', ...loadCells(full)],
    [
      'ratio',
      ratio(empty, full, 'full'),
      ratio(empty, full, 'steady'),
      ...Array<string>(6).fill(''),
    ],
  ];
  const decisions = Object.entries(policy.decide).map(([outcome, { decideNs, hashNs }]) => {
    const ordered = policy.decideOrdered[outcome];
    return [
      ...[outcome, (decideNs + hashNs).toFixed(0), hashNs.toFixed(0), '600'],
      ordered === undefined ? '' : (ordered.decideNs + ordered.hashNs).toFixed(0),
    ];
  });
  return [
    'A resolver process, by its configuration:',
    markdownTable(['configuration', ...LOAD_FIGURES], load),
    'A decision by itself, hashing of the name included:',
    markdownTable(['outcome', 'ns', 'of that hashing', 'goal', 'ns with orders'], decisions),
    'Memory:',
    markdownTable(['entries', 'number', 'bytes each', 'goal'], memoryRows(policy)),
    'Start and change:',
    markdownTable(['what', 'figure', 'goal'], otherRows(figures)),
  ].join('\n\n');
}

function loadCells(rounds: readonly LoadRound[]): string[] {
  const of = (phase: 'full' | 'steady', figure: 'cpuUs' | 'perSecond' | 'p50Ms' | 'p99Ms') =>
    median(rounds.map((round) => round[phase][figure]));
  const phases = rounds.flatMap(({ full, steady }) => [full, steady]);
  return [
    of('full', 'cpuUs').toFixed(2),
    of('steady', 'cpuUs').toFixed(2),
    (of('full', 'perSecond') / 1_000).toFixed(1),
    of('steady', 'p50Ms').toFixed(2),
    of('steady', 'p99Ms').toFixed(2),
    percent(total(phases, 'blocked') / total(phases, 'answered')),
    String(total(phases, 'sent') - total(phases, 'answered')),
    String(median(rounds.map(({ residentMiB }) => residentMiB))),
  ];
}

function ratio(
  empty: readonly LoadRound[],
  full: readonly LoadRound[],
  phase: 'full' | 'steady',
): string {
  const of = (rounds: readonly LoadRound[]) => median(rounds.map((round) => round[phase].cpuUs));
  return `${(of(full) / of(empty)).toFixed(2)} (goal 1.15)`;
}

function total(phases: readonly LoadPhase[], figure: 'sent' | 'answered' | 'blocked'): number {
  return phases.reduce((sum, phase) => sum + phase[figure], 0);
}

function memoryRows({ size, memory, orders, catalogueBytes }: PolicyFigures): string[][] {
  const row = (title: string, bytes: number, count: number, goal: string): string[] => [
    title,
    count.toLocaleString('en-US'),
    (bytes / count).toFixed(1),
    goal,
  ];
  return [
    row('category domains', catalogueBytes, size.domains, '12'),
    row('domain rules', memory['domainRules'] ?? NaN, size.rules, '16'),
    row('IPv4 networks', memory['ipv4Networks'] ?? NaN, size.networks, '24'),
    row('IPv6 networks', memory['ipv6Networks'] ?? NaN, size.networks6, '24'),
    row('NAPT ranges', memory['naptRanges'] ?? NaN, size.napt, ''),
    row('profiles', memory['profiles'] ?? NaN, size.profiles, ''),
    row('orders, in the table', memory['orderTables'] ?? NaN, orders, '12'),
    row('orders, with their texts', memory['orders'] ?? NaN, orders, ''),
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
