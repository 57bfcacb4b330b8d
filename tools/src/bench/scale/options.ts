import { parseArgs } from 'node:util';
import { readInteger, readShare } from '../option-values.js';

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

/** @returns a text for the user instead of options: the help, or what is wrong */
export function readOptions(
  args: readonly string[],
): ScaleOptions | { readonly help: string } | { readonly error: string } {
  try {
    const { values } = parseArgs({
      args: [...args],
      options: {
        help: { type: 'boolean', short: 'h', default: false },
        scale: { type: 'string', default: '1' },
        rounds: { type: 'string', default: '3' },
        seconds: { type: 'string', default: '5' },
        rate: { type: 'string', default: '20000' },
      },
    });
    if (values.help) return { help: HELP };
    return {
      scale: readShare('--scale', values.scale),
      rounds: readInteger('--rounds', values.rounds, 100),
      seconds: readInteger('--seconds', values.seconds, 600),
      rate: readInteger('--rate', values.rate, 1_000_000),
    };
  } catch (error) {
    return { error: `${error instanceof Error ? error.message : String(error)}\n\n${HELP}` };
  }
}
