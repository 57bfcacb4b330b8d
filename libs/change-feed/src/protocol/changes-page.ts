import {
  type Change,
  decodeChange,
  decodeHead,
  encodeOperation,
  type Head,
  type LogPoint,
  RowError,
} from '@weir/config-model';
import { Yielder } from '../runtime/timing.js';
import { parseJson, readTraced, type Traced } from './protocol.js';

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
