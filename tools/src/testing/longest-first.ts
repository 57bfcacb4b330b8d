import { BaseSequencer, type TestSpecification } from 'vitest/node';

/** The files that take longest, beginning with the longest. */
const LONGEST = [
  'console.nightly',
  'explain.property.nightly',
  'benchmarks.nightly',
  'quick-start.nightly',
  'image-tree.nightly',
  'catalogue-updater.int',
  'browser.int',
  'dns-service.int',
  'change-feed.int',
  'main.int',
  'feed-stalls.int',
  'http2.int',
  'every-response.int',
  'policy.property',
];

/** Starts the longest files first, so that no processor is idle at the end. Without it, the largest are first. */
export class LongestFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const sorted = await super.sort(files);
    return sorted.sort((one, other) => rankOf(one) - rankOf(other));
  }
}

function rankOf({ moduleId }: TestSpecification): number {
  const rank = LONGEST.findIndex((name) => moduleId.endsWith(`/${name}.spec.ts`));
  return rank < 0 ? LONGEST.length : rank;
}
