import type { ComponentChildren, JSX } from 'preact';
import { useEffect, useId, useState } from 'preact/hooks';
import { type Applied, CallError, isFault, isGone, ownTimeZone, UNANSWERED } from './api.js';
import { type Key, locale, number, t } from './i18n/index.js';

const SECOND_MS = 1_000;
const DAY_MS = 86_400_000;

/** `2 d, 1:05:09` */
function duration(seconds: number): string {
  const ms = seconds * SECOND_MS;
  const days = Math.floor(ms / DAY_MS);
  const clock = new Date(ms % DAY_MS).toISOString().slice(11, 19);
  const short = clock.replace(/^0/, '');
  return days === 0 ? short : `${t('common.days', { days: number(days) })}, ${short}`;
}

const MESSAGES: Readonly<Record<number, Key>> = {
  [UNANSWERED]: 'error.unreachable',
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
  /** Offered where it may help. Default: nothing is. */
  readonly retry?: (() => void) | undefined;
  /** By status, instead of the usual ones. */
  readonly messages?: Readonly<Record<number, Key>>;
}

/** What went wrong, in the words of the control plane too. */
export function Failure({ error, retry, messages }: FailureProperties): JSX.Element | null {
  if (error === null || error === undefined) return null;
  const text = error instanceof Error ? error.message : '';
  const { status, details, requestId } =
    error instanceof CallError ? error : { status: NaN, details: [text], requestId: null };
  return (
    <div class="notice bad" role="alert">
      <p>{t(messages?.[status] ?? MESSAGES[status] ?? 'error.unexpected')}</p>
      {status === UNANSWERED && <p>{t('error.unknownOutcome')}</p>}
      {details.map((detail) => (
        <p lang="en">{detail}</p>
      ))}
      {status >= 500 && requestId !== null && <p>{t('error.request', { id: requestId })}</p>}
      {retry && !isFault(error) && (
        <button type="button" onClick={retry}>
          {t('error.retry')}
        </button>
      )}
    </div>
  );
}

export type Follow = (change: Promise<Applied>) => Promise<void>;

/** The last change of a page; or the 404 of what was gone already, which no row can show any more. */
type Change = Applied | CallError | null;

/**
 * @param onAnswer called when a change was made or refused: what the page shows may be old
 * @returns the last change, for `InForce`, null while the next one is made or has failed; and what waits for a change
 */
export function useChange(onAnswer: () => void): readonly [Change, Follow] {
  const [change, setChange] = useState<Change>(null);
  const follow = async (next: Promise<Applied>): Promise<void> => {
    setChange(null);
    const failure = await next.then(setChange).catch((error: unknown) => error);
    if (failure === undefined || isFault(failure)) onAnswer();
    if (isGone(failure)) setChange(failure);
    else if (failure !== undefined) throw failure as Error;
  };
  return [change, follow];
}

export function InForce({ change }: { change: Change }): JSX.Element {
  if (change === null) return <div role="status" />;
  if (change instanceof CallError) return <Failure error={change} />;
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
export function Time({ at, timeZone }: { at: string; timeZone?: string }): JSX.Element {
  const format = formatFor(locale.value, timeZone ?? ownTimeZone());
  return <time dateTime={at}>{format.format(new Date(at))}</time>;
}

const formats = new Map<string, Intl.DateTimeFormat>();

/** Made once: it takes longer than all other work of a row of a table. */
function formatFor(language: string, timeZone: string): Intl.DateTimeFormat {
  const key = `${language} ${timeZone}`;
  const format =
    formats.get(key) ??
    new Intl.DateTimeFormat(language, { dateStyle: 'medium', timeStyle: 'medium', timeZone });
  formats.set(key, format);
  return format;
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

/** Its year has four digits. So the browser goes on to the hour after the fourth one. */
const LAST_TIME = '9999-12-31T23:59';

interface FieldProperties {
  readonly label: string;
  readonly hint?: string;
  readonly type?: 'text' | 'password' | 'datetime-local';
  readonly inputMode?: 'numeric';
  readonly required?: boolean;
  readonly value: string;
  readonly onValue: (value: string) => void;
}

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
      {hint && <small id={`${id}-hint`}>{hint}</small>}
      <input
        id={id}
        {...kind}
        inputMode={inputMode ?? 'text'}
        required={required}
        max={type === 'datetime-local' ? LAST_TIME : undefined}
        value={value}
        autoComplete="off"
        autoCapitalize="none"
        spellcheck={false}
        aria-describedby={hint && `${id}-hint`}
        onInput={(event) => onValue(event.currentTarget.value)}
      />
    </div>
  );
}

/** NaN for what is no whole number. The control plane refuses it, and says what it wants. */
export function wholeNumber(text: string): number {
  return /^\d+$/.test(text.trim()) ? Number(text) : NaN;
}

interface ChoiceProperties<T extends string> {
  readonly label: string;
  readonly value: T;
  readonly choices: readonly (readonly [T, string])[];
  readonly onValue: (value: T) => void;
}

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

interface ButtonProperties {
  readonly class?: string;
  readonly isOff: boolean;
  /** Default: the button sends its form. */
  readonly onClick?: (event: MouseEvent) => void;
  readonly onKeyDown?: (event: KeyboardEvent) => void;
  readonly children: ComponentChildren;
}

/** A button that can be off. Unlike one that is `disabled`, it keeps the focus then. */
export function Button({ isOff, onClick, ...rest }: ButtonProperties): JSX.Element {
  const type = onClick === undefined ? 'submit' : 'button';
  const click = isOff ? (event: MouseEvent) => event.preventDefault() : onClick;
  return <button {...rest} type={type} aria-disabled={isOff} onClick={click} />;
}

/** Does something once at a time. */
export function useRun(run: () => Promise<void>): {
  readonly isRunning: boolean;
  readonly error: unknown;
  readonly start: () => void;
  /** `start` when a form is sent. */
  readonly submit: (event: SubmitEvent) => void;
} {
  const [isRunning, setRunning] = useState(false);
  const [error, setError] = useState<unknown>(null);
  const start = async (): Promise<void> => {
    setRunning(true);
    setError(null);
    await run().catch(setError);
    setRunning(false);
  };
  const submit = (event: SubmitEvent): void => {
    event.preventDefault();
    void start();
  };
  return { isRunning, error, start: () => void start(), submit };
}

interface ActionProperties {
  readonly run: () => Promise<void>;
  readonly children: ComponentChildren;
  readonly class?: string;
}

/**
 * A button that does something once at a time, and says below why it has failed. A double click and a key that is held
 * count once: the button may ask for confirmation, which a second click must not give.
 */
export function Action({ run, children, ...rest }: ActionProperties): JSX.Element {
  const { isRunning, error, start } = useRun(run);
  const click = ({ detail }: MouseEvent): void => {
    if (detail <= 1) start();
  };
  const keyDown = (event: KeyboardEvent): void => {
    if (event.repeat) event.preventDefault();
  };
  return (
    <>
      <Button {...rest} isOff={isRunning} onClick={click} onKeyDown={keyDown}>
        {children}
      </Button>
      <Failure error={error} />
    </>
  );
}

interface TableProperties {
  readonly caption: string;
  /** What stands over each column. That of numbers is in brackets: it is aligned as they are. */
  readonly head: readonly (string | readonly [string])[];
  /** On a narrow screen, the head of each row has a line of its own. Otherwise the table scrolls by itself there. */
  readonly wraps?: boolean;
  readonly children: ComponentChildren;
}

export function Table({ caption, head, wraps = false, children }: TableProperties): JSX.Element {
  return (
    <div class="scroll" role="region" aria-label={caption} tabIndex={0}>
      <table class={wraps ? 'wraps' : undefined}>
        <caption>{caption}</caption>
        <thead>
          <tr>
            {head.map((title) => (
              <th scope="col" class={typeof title === 'string' ? undefined : 'number'}>
                {title}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>{children}</tbody>
      </table>
    </div>
  );
}
