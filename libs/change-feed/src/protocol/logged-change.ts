import { type Change, encodeOperation, type Head, type LogPoint } from '@weir/config-model';
import type { Traced } from './protocol.js';

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
