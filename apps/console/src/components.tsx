import { type ComponentChildren, type JSX } from 'preact';
import { useEffect, useId, useState } from 'preact/hooks';
import { type Applied, CallError, session } from './api.js';
import { duration } from './duration.js';
import { type Key, locale, number, t } from './i18n/index.js';

const SECOND_MS = 1_000;
const MEANINGS: Readonly<Record<number, Key>> = {
  0: 'error.unreachable',
  403: 'error.forbidden',
  404: 'error.notFound',
  409: 'error.conflict',
  413: 'error.invalid',
  422: 'error.invalid',
  429: 'error.tooMany',
  503: 'error.unavailable',
  504: 'error.unknownOutcome',
};

interface FailureProperties {
  readonly error: unknown;
  /** Default: nothing is offered. */
  readonly retry?: (() => void) | undefined;
  /** By status, in place of the usual ones. */
  readonly meanings?: Readonly<Record<number, Key>>;
}

/** What went wrong, in the words of the control plane too. */
export function Failure({ error, retry, meanings }: FailureProperties): JSX.Element | null {
  if (error === null || error === undefined) return null;
  const text = error instanceof Error ? error.message : '';
  const { status, details, requestId } =
    error instanceof CallError ? error : { status: -1, details: [text], requestId: null };
  return (
    <div class="notice bad" role="alert">
      <p>{t(meanings?.[status] ?? MEANINGS[status] ?? 'error.unexpected')}</p>
      {details.map((detail) => (
        <p lang="en">{detail}</p>
      ))}
      {status >= 500 && requestId !== null && <p>{t('error.request', { id: requestId })}</p>}
      {retry && (
        <button type="button" onClick={retry}>
          {t('error.retry')}
        </button>
      )}
    </div>
  );
}

/** Says where a change is in force. */
export function InForce({ change }: { change: Applied | null }): JSX.Element {
  if (change === null) return <div role="status" />;
  const [reached, all] = change.applied.split('/');
  const key = reached === all ? 'common.applied' : 'common.appliedPartly';
  return (
    <div role="status">
      <p class={`notice ${reached === all ? 'good' : 'doubtful'}`}>
        {t(key, { applied: change.applied, revision: number(change.revision) })}
      </p>
    </div>
  );
}

export function Loading(): JSX.Element {
  return <p role="status">{t('common.loading')}</p>;
}

/** A time of RFC 3339. @param timeZone default: `SCHEDULE_TIMEZONE` */
export function Time({
  at,
  timeZone = session.value?.timeZone ?? 'UTC',
}: {
  at: string;
  timeZone?: string;
}): JSX.Element {
  const format = new Intl.DateTimeFormat(locale.value, {
    dateStyle: 'medium',
    timeStyle: 'medium',
    timeZone,
  });
  return <time dateTime={at}>{format.format(new Date(at))}</time>;
}

/** The time that is left until a time of RFC 3339, second by second. */
export function Remaining({ until }: { until: string }): JSX.Element {
  const [nowMs, setNow] = useState(Date.now);
  useEffect(() => {
    const timer = window.setInterval(() => setNow(Date.now()), SECOND_MS);
    return () => window.clearInterval(timer);
  }, []);
  const seconds = Math.max(Math.ceil((Date.parse(until) - nowMs) / SECOND_MS), 0);
  return <span class="remaining">{duration(seconds)}</span>;
}

interface FieldProperties {
  readonly label: string;
  readonly hint?: string;
  readonly type?: 'text' | 'password' | 'datetime-local';
  readonly inputMode?: 'numeric';
  readonly required?: boolean;
  readonly value: string;
  readonly onValue: (value: string) => void;
}

/** A text field with its label. */
export function Field({
  label,
  hint,
  type = 'text',
  inputMode,
  required = false,
  value,
  onValue,
}: FieldProperties): JSX.Element {
  const id = useId();
  const kind = { type } as JSX.IntrinsicElements['input'];
  return (
    <div class="field">
      <label for={id}>{label}</label>
      <input
        id={id}
        {...kind}
        inputMode={inputMode ?? 'text'}
        required={required}
        value={value}
        autoComplete="off"
        autoCapitalize="none"
        spellcheck={false}
        aria-describedby={hint && `${id}-hint`}
        onInput={(event) => onValue(event.currentTarget.value)}
      />
      {hint && <small id={`${id}-hint`}>{hint}</small>}
    </div>
  );
}

interface ChoiceProperties<T extends string> {
  readonly label: string;
  readonly value: T;
  readonly choices: readonly (readonly [T, string])[];
  readonly onValue: (value: T) => void;
}

/** A list to choose one of, with its label. */
export function Choice<T extends string>({
  label,
  value,
  choices,
  onValue,
}: ChoiceProperties<T>): JSX.Element {
  const id = useId();
  return (
    <div class="field">
      <label for={id}>{label}</label>
      <select id={id} value={value} onChange={(event) => onValue(event.currentTarget.value as T)}>
        {choices.map(([one, text]) => (
          <option value={one} selected={one === value}>
            {text}
          </option>
        ))}
      </select>
    </div>
  );
}

interface ActionProperties {
  readonly run: () => Promise<void>;
  readonly children: ComponentChildren;
  readonly class?: string;
  readonly disabled?: boolean;
}

/** A button that does something once at a time, and says below why it has failed. */
export function Action({
  run,
  children,
  disabled = false,
  ...rest
}: ActionProperties): JSX.Element {
  const [isRunning, setRunning] = useState(false);
  const [error, setError] = useState<unknown>(null);
  const onClick = async (): Promise<void> => {
    setRunning(true);
    setError(null);
    await run().catch(setError);
    setRunning(false);
  };
  return (
    <>
      <button
        type="button"
        {...rest}
        disabled={disabled || isRunning}
        onClick={() => void onClick()}
      >
        {children}
      </button>
      <Failure error={error} />
    </>
  );
}

interface TableProperties {
  readonly caption: string;
  readonly head: readonly string[];
  readonly children: ComponentChildren;
}

/** A table that scrolls by itself on a narrow screen. */
export function Table({ caption, head, children }: TableProperties): JSX.Element {
  return (
    <div class="scroll" role="region" aria-label={caption} tabIndex={0}>
      <table>
        <caption>{caption}</caption>
        <thead>
          <tr>
            {head.map((title) => (
              <th scope="col">{title}</th>
            ))}
          </tr>
        </thead>
        <tbody>{children}</tbody>
      </table>
    </div>
  );
}
