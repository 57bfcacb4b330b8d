import { integerOption, optionsOrText, readOptions, shareOption } from '../../command-options.js';

export interface ScaleOptions {
  /** Share of the full size. */
  readonly scale: number;
  readonly rounds: number;
  readonly seconds: number;
  /** Queries per second of the steady phase. */
  readonly rate: number;
}

export const HELP = `npm run bench:scale -- [--scale 1] [--rounds 3] [--seconds 5] [--rate 20000]

Compares a resolver without a configuration with one at full size: 1 M IPv4 and 200 k IPv6 networks, 200 k NAPT ranges,
100 k profiles, 10 M domain rules, 5 M category domains, schedules. Names follow Zipf's law; a third of the clients are
behind NAPT ranges. Then a decision by itself, memory by kind of entry, start from disk, and one change.
scale: share of the size, such as 0.01
seconds: of each of the two phases, full load and the steady rate (queries per second)
At full size it takes about ten minutes, 4 GiB of memory and 2 GiB in the folder for temporary files.`;

const OPTIONS = {
  help: { type: 'boolean', short: 'h' },
  scale: { type: 'string', default: '1' },
  rounds: { type: 'string', default: '3' },
  seconds: { type: 'string', default: '5' },
  rate: { type: 'string', default: '20000' },
} as const;

/** @returns a text for the user instead of options: the help, or what is wrong */
export function parseOptions(
  args: readonly string[],
): ScaleOptions | { readonly help: string } | { readonly error: string } {
  return optionsOrText(HELP, () => {
    const values = readOptions(args, OPTIONS);
    if (values.help) return null;
    return {
      scale: shareOption('scale', values.scale),
      rounds: integerOption('rounds', values.rounds, 1, 100),
      seconds: integerOption('seconds', values.seconds, 1, 600),
      rate: integerOption('rate', values.rate, 1, 1_000_000),
    };
  });
}
