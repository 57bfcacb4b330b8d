import type { Random } from '../../deployment/random.js';
import { type ExpectedAnswers, KeyHistory } from '../history.js';
import type { Call, InitPart, Key, Version } from './key.js';

type Body = Readonly<Record<string, unknown>>;

/** A version in which the record is there. */
interface RecordVersion extends Version {
  /** Of the call that makes it. */
  readonly body: Body;
}

/** How a record, or a group of records, is changed, and what that leads to. */
interface RecordKind extends Pick<Key, 'name' | 'probes' | 'setUp' | 'sql' | 'logged'> {
  /** Without the record. */
  readonly none: ExpectedAnswers;
  draw(random: Random, before: Body | null): RecordVersion;
  /** Creates the record, or changes the one before. */
  put(body: Body, before: Body | null): Call;
  /** The body of a call of `put` with one field that makes it one that must be refused. */
  wrong(body: Body): Body;
  /** Where a record is deleted. Default: it is not. */
  path?(body: Body): string;
  /** What becomes of it at `POST /init/`: another version, or none; another one; none; the same. */
  readonly atInit: 'drawn' | 'there' | 'gone' | 'kept';
  /** @param body null: without the record */
  part(body: Body | null): InitPart;
  /** The version that the database has again. Only if it is kept at `POST /init/`. */
  rewound?(stored: string): Version;
}

export function recordKey(kind: RecordKind): Key {
  const none = { answers: kind.none, stored: null };
  let body: Body | null = null;
  let current: Version = none;
  const become = (version: RecordVersion | null): Version => {
    body = version?.body ?? null;
    const { answers, stored } = version ?? none;
    current = { answers, stored };
    return current;
  };
  return {
    ...kind,
    history: new KeyHistory(kind.none),
    next: (random) => {
      if (body !== null && kind.path !== undefined && random.chance(0.3)) {
        const path = kind.path(body);
        return { method: 'DELETE', path, ...become(null), alreadyDone: 404, refusal: false };
      }
      const version = kind.draw(random, body);
      const call = kind.put(version.body, body);
      if (random.chance(0.1)) {
        const wrong = kind.wrong(call.body as Body);
        const refused = { answers: [], stored: null, refusal: true };
        return { ...call, ...refused, body: wrong, alreadyDone: undefined };
      }
      return { ...call, ...become(version), refusal: false };
    },
    rewound: (stored) => {
      if (kind.rewound === undefined) return;
      become(stored === null ? null : { ...kind.rewound(stored), body: {} });
    },
    replace: (random) => {
      const isGone = kind.atInit === 'gone' || (kind.atInit === 'drawn' && random.chance(0.3));
      if (kind.atInit !== 'kept') become(isGone ? null : kind.draw(random, body));
      return { part: kind.part(body), ...current };
    },
  };
}
