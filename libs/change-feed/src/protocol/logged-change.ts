import { type Change, encodeOperation, type Head, type LogPoint } from '@weir/config-model';

/** A change as the log stores it. The feed API passes its operations on as text, however many they are. */
export interface LoggedChange extends LogPoint {
  /** JSON of encoded operations. */
  readonly operations: string;
}

export function toLoggedChange({ revision, digest, operations }: Change): LoggedChange {
  return { revision, digest, operations: JSON.stringify(operations.map(encodeOperation)) };
}

/** The JSON of a `ChangesPage`. */
export function renderChangesPage(head: Head, changes: readonly LoggedChange[]): string {
  const rendered = changes.map(({ revision, digest, operations }) => {
    const point = JSON.stringify({ revision, digest });
    return `${point.slice(0, -1)},"operations":${operations}}`;
  });
  return `{"head":${JSON.stringify(head)},"changes":[${rendered.join(',')}]}`;
}
