import { effect } from '@preact/signals';
import type { ComponentChildren, JSX } from 'preact';
import { useEffect, useRef, useState } from 'preact/hooks';
import { api, changeBy, dataOf, endedSession, ownTimeZone, type Schemas } from './api.js';
import { shownAt, timeOf } from './clock.js';
import { Button, Failure, Field, type Follow, Time, useRun, wholeNumber } from './components.js';
import { forgetDraft, useDraft } from './router.js';
import { t } from './i18n/index.js';

type Order = Schemas['OrderStateAnswer'];

/** `until` is on the clocks of `SCHEDULE_TIMEZONE`; empty: no end. */
const NOTHING = { id: '', domain: '', authority: '', reference: '', until: '' };
type Entered = Readonly<typeof NOTHING>;

const endOf = (until: string): string | null =>
  until === '' ? null : timeOf(until, ownTimeZone());

interface FieldsProperties {
  readonly entered: Entered;
  readonly onEntered: (entered: Entered) => void;
  /** It exists: its id stays, and its domain is not known here. */
  readonly isStored?: boolean;
}

function Fields({ entered, onEntered, isStored = false }: FieldsProperties): JSX.Element {
  const field = (name: keyof Entered): Pick<Parameters<typeof Field>[0], 'value' | 'onValue'> => ({
    value: entered[name],
    onValue: (value) => onEntered({ ...entered, [name]: value }),
  });
  return (
    <>
      {!isStored && <Field label={t('orders.id')} inputMode="numeric" required {...field('id')} />}
      <Field
        label={t(isStored ? 'orders.otherDomain' : 'common.domain')}
        {...(isStored ? { hint: t('orders.otherDomainHint') } : { required: true })}
        {...field('domain')}
      />
      <Field label={t('orders.authority')} required {...field('authority')} />
      <Field label={t('orders.reference')} required {...field('reference')} />
      <Field
        label={t('common.until')}
        hint={t('orders.untilHint', { zone: ownTimeZone() })}
        type="datetime-local"
        {...field('until')}
      />
    </>
  );
}

interface FormProperties extends FieldsProperties {
  readonly run: () => Promise<void>;
  /** What its button says. */
  readonly label: string;
  readonly isOff?: boolean;
  /** What else stands in it. */
  readonly children?: ComponentChildren;
}

/** Whether others register domains below it: `com`, `co.uk`. What is no domain, the API refuses. */
async function isPublicSuffix(domain: string): Promise<boolean> {
  const url = `http://${domain.trim().replace(/\.$/, '')}`;
  if (!URL.canParse(url)) return false;
  const { hostname } = new URL(url);
  const { getPublicSuffix } = await loadSuffixes();
  return getPublicSuffix(hostname) === hostname;
}

const loadSuffixes = () => import('tldts-icann');

/** A form, so that the browser refuses an end that is filled in partly: to a script such a field looks empty. */
function Form({ run, label, isOff = false, children, ...fields }: FormProperties): JSX.Element {
  const { domain } = fields.entered;
  // When the form is sent, a later release may have taken this file away.
  useEffect(() => void loadSuffixes().catch(() => undefined), []);
  /** The domain that was found to be a public suffix. */
  const [suffix, setSuffix] = useState<string | null>(null);
  const { isRunning, error, submit } = useRun(async () => {
    setEndLost(false);
    if (domain !== suffix && (await isPublicSuffix(domain))) return setSuffix(domain);
    await run();
  });
  const form = useRef<HTMLFormElement>(null);
  const lostEnd = `order.lostEnd.${label}`;
  const [isEndLost, setEndLost] = useDraft(lostEnd, false);
  // So such an end is lost when the token ends. The form that is there after the next sign-in says so.
  useEffect(() => {
    const stop = effect(() => {
      const isPartly = form.current?.querySelector('[type=datetime-local]:invalid');
      if (endedSession.value !== null && isPartly) setEndLost(true);
    });
    return () => {
      stop();
      if (endedSession.peek() === null) forgetDraft(lostEnd);
    };
  }, []);
  return (
    <form ref={form} class="card row" onSubmit={submit}>
      <Fields {...fields} />
      {domain === suffix && (
        <div key={suffix} class="notice doubtful" role="alert">
          <label>
            <input type="checkbox" required /> {t('orders.publicSuffix', { domain })}
          </label>
        </div>
      )}
      {isEndLost && fields.entered.until === '' && (
        <p class="notice doubtful" role="alert">
          {t('orders.lostEnd')}
        </p>
      )}
      <Button isOff={isOff || isRunning}>{label}</Button>
      <Failure error={error} />
      {children}
    </form>
  );
}

export function NewOrder({ follow }: { follow: Follow }): JSX.Element {
  const [entered, setEntered] = useDraft<Entered>('order.new', NOTHING);
  const { id, domain, authority, reference, until } = entered;
  const add = async (): Promise<void> => {
    const body = {
      id: wholeNumber(id),
      domain: domain.trim(),
      authority: authority.trim(),
      reference: reference.trim(),
      until: endOf(until),
    };
    await follow(changeBy(api.POST('/orders/', { body })));
    setEntered({ ...NOTHING, authority }, entered);
  };
  return (
    <section>
      <h2>{t('orders.new')}</h2>
      <Form {...{ entered, onEntered: setEntered, run: add, label: t('common.add') }} />
    </section>
  );
}

const contentOf = ({ domain_hash, authority, reference, until }: Order): string =>
  JSON.stringify([domain_hash, authority, reference, until]);

interface EditProperties {
  /** As it was when it was opened. */
  readonly order: Order;
  readonly follow: Follow;
  readonly close: () => void;
}

/** Changes what was entered anew, and nothing else of the order. */
export function EditOrder({ order, follow, close }: EditProperties): JSX.Element {
  const { id } = order;
  const untilShown = order.until === null ? '' : shownAt(order.until, ownTimeZone());
  const [entered, setEntered] = useDraft<Entered>(`order.${id}`, {
    ...NOTHING,
    ...{ authority: order.authority, reference: order.reference, until: untilShown },
  });
  /** What the person knows of the order. */
  const [known, setKnown] = useState(order);
  const section = useRef<HTMLElement>(null);
  const leave = (): void => {
    const isFocused = section.current?.contains(document.activeElement);
    // It is closed already.
    if (isFocused === undefined) return;
    forgetDraft(`order.${id}`);
    close();
    if (isFocused) document.getElementById(`edit-${id}`)?.focus();
  };
  const params = { path: { id } };
  const { domain, until } = entered;
  const [authority, reference] = [entered.authority.trim(), entered.reference.trim()];
  const body = {
    ...(domain.trim() !== '' && { domain: domain.trim() }),
    ...(authority !== order.authority && { authority }),
    ...(reference !== order.reference && { reference }),
    ...(until !== untilShown && { until: endOf(until) }),
  };
  const save = async (): Promise<void> => {
    const stored = await dataOf(api.GET('/orders/{id}', { params })).catch((error: unknown) =>
      follow(Promise.reject(error as Error)),
    );
    // It is gone. What was entered stays, to be copied.
    if (stored === undefined) return;
    const isKnown = contentOf(stored) === contentOf(known);
    setKnown(stored);
    if (!isKnown) return;
    await follow(changeBy(api.PATCH('/orders/{id}', { params, body })));
    leave();
  };
  return (
    <section ref={section}>
      <h2>{t('orders.editing', { id })}</h2>
      <Form
        {...{ entered, onEntered: setEntered, run: save, label: t('orders.save') }}
        isOff={Object.keys(body).length === 0}
        isStored
      >
        <button type="button" onClick={leave}>
          {t('common.cancel')}
        </button>
      </Form>
      {contentOf(known) !== contentOf(order) && (
        <div class="notice doubtful" role="alert">
          <p>{t('orders.changedMeanwhile')}</p>
          <p>
            {known.authority} · {known.reference} ·{' '}
            {known.until === null ? t('orders.noEnd') : <Time at={known.until} />}
          </p>
        </div>
      )}
    </section>
  );
}
