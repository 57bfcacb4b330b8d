import {
  type Change,
  decodeChange,
  decodeHead,
  type EncodedChange,
  encodeOperation,
  type Head,
  type LogPoint,
  RowError,
} from '@weir/config-model';
import { Yielder } from '../runtime/runtime.js';
import {
  FEED_VERSION,
  parseJson,
  parseMessage,
  type PublishedChange,
  readTraced,
  type Traced,
} from './protocol.js';

/** Most changes in one response of `GET /changes`. */
export const CHANGES_PAGE = 1_000;

/** Response of `GET /changes?after=N`: the next changes in order, and the head of the log at that moment. */
export interface ChangesPage {
  readonly head: Head;
  readonly changes: readonly (Change & Traced)[];
}

/** A change as the log stores it. The feed API passes its operations on as text, however many they are. */
export interface LoggedChange extends LogPoint {
  /** JSON of encoded operations. */
  readonly operations: string;
}

export function toLoggedChange({ revision, digest, operations }: Change): LoggedChange {
  return { revision, digest, operations: JSON.stringify(operations.map(encodeOperation)) };
}

/** The JSON of a `ChangesPage`. @param traceOf the trace of a change, if it is known. */
export function renderChangesPage(
  head: Head,
  changes: readonly LoggedChange[],
  traceOf: (point: LogPoint) => Traced = () => ({}),
): string {
  const rendered = changes.map(({ revision, digest, operations }) => {
    const point = JSON.stringify({ revision, digest, ...traceOf({ revision, digest }) });
    return `${point.slice(0, -1)},"operations":${operations}}`;
  });
  return `{"head":${JSON.stringify(head)},"changes":[${rendered.join(',')}]}`;
}

/** Lets other work have the event loop between two changes. @throws RowError when it is no page. */
export async function readChangesPage(json: Buffer): Promise<ChangesPage> {
  const page = parseJson(json.toString('utf8')) as Partial<ChangesPage> | null;
  if (!Array.isArray(page?.changes)) throw new RowError('a page has an array of changes');
  const yielder = new Yielder();
  const changes: (Change & Traced)[] = [];
  for (const change of page.changes as unknown[]) {
    changes.push({ ...decodeChange(change), ...readTraced(change) });
    await yielder.yieldIfDue();
  }
  return { head: decodeHead(page.head), changes };
}

/** Largest message. A larger change is published as its head and fetched from the feed API. */
export const MAX_PUBLISHED_BYTES = 256 * 1024;

interface ChangeGroup {
  readonly lineage: string;
  readonly changes: readonly (EncodedChange & Traced)[];
}

export type ChangeMessage =
  | { readonly type: 'changes'; readonly changes: readonly (Change & Head & Traced)[] }
  /** There is a change that is too large for a message. */
  | { readonly type: 'head'; readonly head: Head & Traced };

/** The text of an operation is longer. */
const LEAST_OPERATION_BYTES = 16;

/** The messages of changes that were committed together, in order. */
export function renderChangeMessages(changes: readonly PublishedChange[]): string[] {
  const [first] = changes;
  if (first === undefined) return [];
  const operationCount = changes.reduce((sum, { operations }) => sum + operations.length, 0);
  if (operationCount * LEAST_OPERATION_BYTES <= MAX_PUBLISHED_BYTES) {
    const group: ChangeGroup = {
      lineage: first.lineage,
      changes: changes.map((change) => {
        const { revision, digest, operations } = change;
        return { revision, digest, operations, ...readTraced(change) };
      }),
    };
    const text = JSON.stringify({ ...group, feedVersion: FEED_VERSION });
    if (text.length <= MAX_PUBLISHED_BYTES) return [text];
  }
  if (changes.length === 1) return [renderHead(first, readTraced(first))];
  const half = changes.length >> 1;
  return [changes.slice(0, half), changes.slice(half)].flatMap(renderChangeMessages);
}

function renderHead({ lineage, revision, digest }: Head, more: object): string {
  return JSON.stringify({ lineage, revision, digest, ...more, feedVersion: FEED_VERSION });
}

/** @throws FeedVersionError; RowError for any other text. */
export function parseChangeMessage(text: string): ChangeMessage {
  const value = parseMessage(text) as Partial<ChangeGroup> | null;
  if (value?.changes === undefined) {
    return { type: 'head', head: { ...decodeHead(value), ...readTraced(value) } };
  }
  if (!Array.isArray(value.changes)) throw new RowError('a group has an array of changes');
  const changes = (value.changes as unknown[]).map((change) => ({
    ...decodeHead({ ...(change as object), lineage: value.lineage }),
    ...decodeChange(change),
    ...readTraced(change),
  }));
  return { type: 'changes', changes };
}

/** How many followers may publish every revision. More publish less often, so that their sum stays the same. */
const FOLLOWERS_PER_MS = 20;
/** Longest time between two acknowledgements of a follower while changes come. */
const MAX_ACKNOWLEDGEMENT_INTERVAL_MS = 100;

interface HeadMessage {
  readonly head: Head;
  /** Least time between two acknowledgements of a follower. */
  readonly acknowledgementIntervalMs: number;
}

/** Least milliseconds between two acknowledgements of each of so many followers. A lone change is not held up. */
export function acknowledgementIntervalMs(followers: number): number {
  return Math.min(MAX_ACKNOWLEDGEMENT_INTERVAL_MS, Math.floor(followers / FOLLOWERS_PER_MS));
}

export function renderHeadMessage({ head, acknowledgementIntervalMs }: HeadMessage): string {
  return renderHead(head, { acknowledgementIntervalMs });
}

/** @throws FeedVersionError; RowError when the text is not a head. */
export function parseHeadMessage(text: string): HeadMessage {
  const value = parseMessage(text);
  const head = decodeHead(value);
  const { acknowledgementIntervalMs: ms } = value as { acknowledgementIntervalMs?: unknown };
  if (!(typeof ms === 'number' && ms >= 0 && ms <= MAX_ACKNOWLEDGEMENT_INTERVAL_MS)) {
    throw new RowError('an interval between acknowledgements is a number of milliseconds');
  }
  return { head, acknowledgementIntervalMs: ms };
}
