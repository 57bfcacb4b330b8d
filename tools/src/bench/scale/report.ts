import { percentile } from '../../percentile.js';
import { markdownTable } from '../figures.js';
import type { LoadPhase, LoadRound } from './measure-load.js';
import type { PolicyFigures } from './policy/measure.js';

/** All that bench:scale measures. */
export interface ScaleFigures {
  readonly empty: readonly LoadRound[];
  readonly full: readonly LoadRound[];
  readonly policy: PolicyFigures;
  /** Starts of the process until it is ready, in ms. */
  readonly startMs: {
    /** At full size, from the feed and from disk. */
    readonly feed: number;
    readonly disk: readonly number[];
    /** With the networks of full size and as many rules, from disk. */
    readonly smallDisk: readonly number[];
  };
  /** From the commit of a change until its acknowledgement, in ms. */
  readonly changeMs: readonly number[];
}

const median = (values: readonly number[]): number => percentile(values, 0.5);
const percent = (share: number): string => `${(share * 100).toFixed(0)} %`;

export function renderScale(figures: ScaleFigures): string {
  const { empty, full, policy } = figures;
  return [
    'A resolver process, by its configuration:',
    markdownTable(
      [
        'configuration',
        'CPU µs',
        'steady CPU µs',
        'kq/s',
        'p50 ms',
        'p99 ms',
        'blocked',
        'lost',
        'MiB',
      ],
      [
        ['empty', ...loadCells(empty)],
        ['full size', ...loadCells(full)],
        ['ratio', ...ratios(empty, full)],
      ],
    ),
    'A decision by itself, hashing of the name included:',
    markdownTable(
      ['outcome', 'ns', 'of that hashing', 'goal'],
      Object.entries(policy.decide).map(([outcome, { decideNs, hashNs }]) => [
        outcome,
        (decideNs + hashNs).toFixed(0),
        hashNs.toFixed(0),
        '600',
      ]),
    ),
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

function ratios(empty: readonly LoadRound[], full: readonly LoadRound[]): string[] {
  const ratio = (phase: 'full' | 'steady'): string => {
    const of = (rounds: readonly LoadRound[]): number =>
      median(rounds.map((round) => round[phase].cpuUs));
    return `${(of(full) / of(empty)).toFixed(2)} (goal 1.15)`;
  };
  return [ratio('full'), ratio('steady'), '', '', '', '', '', ''];
}

function total(phases: readonly LoadPhase[], figure: 'sent' | 'answered' | 'blocked'): number {
  return phases.reduce((sum, phase) => sum + phase[figure], 0);
}

function memoryRows({ size, memory, catalogueBytes }: PolicyFigures): string[][] {
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
  ];
}

function otherRows({ startMs, changeMs, policy }: ScaleFigures): string[][] {
  const seconds = (values: readonly number[]): string => `${(median(values) / 1_000).toFixed(1)} s`;
  return [
    ['process ready, full size, over the feed', seconds([startMs.feed]), ''],
    ['process ready, full size, from disk', seconds(startMs.disk), ''],
    ['process ready, as many rules as IPv4 networks, from disk', seconds(startMs.smallDisk), '2 s'],
    ['one domain rule, applied, p50', `${policy.changeUs.p50.toFixed(1)} µs`, '50 µs'],
    ['… p99', `${policy.changeUs.p99.toFixed(1)} µs`, ''],
    ['… committed until acknowledged, p50', `${median(changeMs).toFixed(2)} ms`, ''],
    ['… p99', `${percentile(changeMs, 0.99).toFixed(2)} ms`, ''],
  ];
}
