import type { WeirProcess } from '../deployment/weir-process.js';
import { cloneRelease } from '../previous-release/clone.js';
import { findPreviousRelease } from '../previous-release/find.js';
import type { FaultOptions } from './options.js';

/** The folders of the releases that replicas are started from. */
export interface Releases {
  readonly own: string;
  /** Null: the run is without a previous release. */
  readonly previous: string | null;
}

/** The folder of the previous release, ready to run; null when the run is without it. */
export async function previousRelease(
  { seed, short, plant }: FaultOptions,
  root: string,
  print: (text: string) => void,
): Promise<string | null> {
  if (short || plant !== null || !hasPreviousRelease(seed)) return null;
  const previous = findPreviousRelease(root);
  if ('none' in previous) {
    print(`WITHOUT the previous release: ${previous.none}`);
    return null;
  }
  print(`with the previous release, ${previous.commit} (the first run builds it, in minutes)`);
  return cloneRelease(root, previous.commit);
}

function hasPreviousRelease(seed: number): boolean {
  return seed % 2 === 1;
}

/** As in a rolling upgrade, and in one that is rolled back; from the next start on. @returns which one it will be. */
export function changeRelease(process: WeirProcess, { own, previous }: Releases): string {
  const isUpgraded = process.releaseRoot !== own;
  process.releaseRoot = isUpgraded ? own : (previous ?? own);
  return isUpgraded ? 'this release' : 'the previous release';
}
