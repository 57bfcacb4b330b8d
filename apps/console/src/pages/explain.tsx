import type { JSX } from 'preact';
import { useEffect } from 'preact/hooks';
import { allows, api, changeBy, dataOf, isGone, type Schemas, send } from '../api.js';
import { ProfileLink, subscriberText } from '../changes-table.js';
import {
  Action,
  Failure,
  Field,
  type Follow,
  InForce,
  Loading,
  Remaining,
  Time,
  useChange,
} from '../components.js';
import { hrefOf, navigate, place, useDraft } from '../router.js';
import { number, t } from '../i18n/index.js';
import { useGrant, useLoad } from '../loading.js';

type Explanation = Schemas['ExplanationAnswer'];
type Step = Schemas['StepAnswer'];

const COLOURS = { allow: 'good', deny: 'bad', unfiltered: 'doubtful', refused: 'bad' };
const MARKS = { allow: '✓', deny: '✕', none: '·' };
const GRANT_MINUTES = 30;

export function Explain(): JSX.Element {
  const { params } = place.value;
  const query = queryOf(params);
  return (
    <>
      <Question params={params} />
      {query && <Asked key={place.value} query={query} />}
    </>
  );
}

/** What a question leads to. When the question is asked again, all of this starts anew. */
function Asked({ query }: { query: Record<string, string> }): JSX.Element {
  const { value, error, reload } = useLoad(
    (signal) => dataOf(api.GET('/explain/', { params: { query }, signal })),
    [],
  );
  const [change, follow] = useChange(reload);
  return (
    <>
      <Failure error={error} />
      <InForce change={change} />
      {value === undefined && error === null && <Loading />}
      {error === null && value && <Result explanation={value} follow={follow} reload={reload} />}
    </>
  );
}

function queryOf(params: URLSearchParams): Record<string, string> | undefined {
  const given = Object.fromEntries([...params].filter(([, value]) => value !== ''));
  return 'incident' in given || 'domain' in given ? given : undefined;
}

function Question({ params }: { params: URLSearchParams }): JSX.Element {
  const [client, setClient] = useDraft('client', params.get('client') ?? '');
  const [port, setPort] = useDraft('port', params.get('port') ?? '');
  const [domain, setDomain] = useDraft('domain', params.get('domain') ?? '');
  const [incident, setIncident] = useDraft('incident', params.get('incident') ?? '');
  const ask = (event: SubmitEvent, values: Parameters<typeof hrefOf>[1]): void => {
    event.preventDefault();
    navigate(hrefOf('explain', values));
  };
  const trimmed = { client: client.trim(), port: port.trim(), domain: domain.trim() };
  return (
    <>
      <form class="card" onSubmit={(event) => ask(event, trimmed)}>
        <Field label={t('explain.client')} required value={client} onValue={setClient} />
        <Field label={t('explain.port')} inputMode="numeric" value={port} onValue={setPort} />
        <Field label={t('common.domain')} required value={domain} onValue={setDomain} />
        <button type="submit">{t('explain.submit')}</button>
      </form>
      <form class="card" onSubmit={(event) => ask(event, { incident: incident.trim() })}>
        <Field
          label={t('explain.incident')}
          hint={t('explain.incidentHint')}
          required
          value={incident}
          onValue={setIncident}
        />
        <button type="submit">{t('explain.lookUp')}</button>
      </form>
    </>
  );
}

interface ResultProperties {
  readonly explanation: Explanation;
  readonly follow: Follow;
  readonly reload: () => void;
}

function Result({ explanation, follow, reload }: ResultProperties): JSX.Element {
  const { domain, client, type, at, verdict, steps, rewrite } = explanation;
  const asker =
    client.port === null
      ? client.address
      : `${client.address}, ${t('explain.port')} ${client.port}`;
  return (
    <>
      <section aria-label={t('common.verdict')} class={`notice headline ${COLOURS[verdict]}`}>
        <p>{t(`explain.verdict.${verdict}`, { domain })}</p>
        <small>
          {asker} · {type} · <Time at={at} />
        </small>
      </section>
      <GrantEnd explanation={explanation} reload={reload} />
      {rewrite !== null && <p>{t('explain.rewrite', { target: rewrite })}</p>}
      {explanation.targets_judged && <p>{t('explain.targets')}</p>}
      <div class="columns">
        <section>
          <h2>{t('explain.ladder')}</h2>
          <ol class="ladder">
            {steps.map((step) => (
              <StepItem key={step.step} step={step} />
            ))}
          </ol>
        </section>
        <section>
          <h2>{t('explain.who')}</h2>
          <Subscriber explanation={explanation} />
          <h2>{t('explain.since')}</h2>
          <History since={explanation.since} />
          <h2>{t('explain.answer')}</h2>
          <Answer explanation={explanation} />
        </section>
      </div>
      {allows('write') && <Actions explanation={explanation} follow={follow} />}
    </>
  );
}

/** How long the grant that decided holds still. When it has ended, the name is explained anew. */
function GrantEnd({
  explanation: { steps, profile },
  reload,
}: Omit<ResultProperties, 'follow'>): JSX.Element | null {
  const id = steps.find(({ decided }) => decided)?.grant_id;
  const { value: grant, error } = useGrant(profile?.id, id);
  const hasEnded = isGone(error);
  useEffect(() => {
    if (hasEnded) reload();
  }, [error]);
  if (id === undefined || hasEnded) return null;
  return (
    <>
      <Failure error={error} />
      {grant && (
        <p class="notice doubtful">
          {t('explain.grantEnds')} <Time at={grant.until} />, {t('grants.remaining')}:{' '}
          <Remaining until={grant.until} />
        </p>
      )}
    </>
  );
}

function StepItem({ step }: { step: Step }): JSX.Element {
  const { verdict, matched, decided } = step;
  const colour = verdict === 'none' ? 'quiet' : COLOURS[verdict];
  return (
    <li class={`${colour}${decided ? ' decided' : ''}`} aria-current={decided ? 'step' : undefined}>
      <span class="mark" aria-hidden="true">
        {MARKS[verdict]}
      </span>
      <div>
        <strong>{t(`explain.step.${step.step}`)}</strong>: {t(`explain.says.${verdict}`)}
        {decided && <span class="badge">{t('explain.decided')}</span>}
        {matched !== null && (
          <p>
            {t('explain.matched')} <code>{matched}</code>
          </p>
        )}
        <Details step={step} />
      </div>
    </li>
  );
}

function Details({ step }: { step: Step }): JSX.Element | null {
  const { order_id, app_id, cat_id, name = '', source, listed_since } = step;
  if (order_id !== undefined) return <p>{t('explain.order', { id: order_id })}</p>;
  if (app_id !== undefined) return <p>{t('explain.application', { id: app_id, name })}</p>;
  if (cat_id === undefined) return null;
  return (
    <>
      <p>{t('explain.category', { id: cat_id, name })}</p>
      {source !== undefined && (
        <p>
          {t('explain.source', { source })}
          {listed_since !== undefined && (
            <>
              , {t('common.since')} <Time at={listed_since} />
            </>
          )}
        </p>
      )}
    </>
  );
}

function Subscriber({
  explanation: { subscriber, profile },
}: {
  explanation: Explanation;
}): JSX.Element {
  if (subscriber === null || profile === null) return <p>{t('explain.nobody')}</p>;
  return (
    <>
      <p>
        <code>{subscriberText(subscriber)}</code> · <ProfileLink id={profile.id} />
      </p>
      {profile.active_id !== profile.id && (
        <p class="notice doubtful">
          {t('explain.active', { id: profile.active_id })}
          {profile.schedule?.until && (
            <>
              {' '}
              {t('explain.until')} <Time at={profile.schedule.until} />
            </>
          )}
        </p>
      )}
      {profile.next_switch !== null && (
        <p>
          {t('explain.nextSwitch')} <Time at={profile.next_switch} />
        </p>
      )}
    </>
  );
}

/** Who made it so, when, and by which call. */
function History({ since }: { since: Explanation['since'] }): JSX.Element {
  const revision = since?.revision;
  const { value, error } = useLoad(
    revision === undefined
      ? undefined
      : (signal) =>
          dataOf(
            api.GET('/changes/', { params: { query: { after: revision - 1, limit: 1 } }, signal }),
          ),
    [revision],
  );
  if (since === null) return <p class="quiet">{t('explain.noHistory')}</p>;
  const record = value?.changes.find((one) => one.revision === revision);
  return (
    <>
      <p>
        <Time at={since.time} /> · {t('explain.revision', { revision: number(since.revision) })}
      </p>
      <p>{t('explain.by', { token: since.token ?? '–' })}</p>
      {record?.method && (
        <p>
          <code>
            {record.method} {record.route}
          </code>
        </p>
      )}
      <p class="quiet">{t('error.request', { id: since.request_id ?? '–' })}</p>
      <Failure error={error} />
    </>
  );
}

function Answer({ explanation: { answer, verdict } }: { explanation: Explanation }): JSX.Element {
  if (answer === null) return <p>{t('explain.upstream')}</p>;
  const { rcode, records, ede } = answer;
  return (
    <>
      <p>
        <code>{rcode}</code>
        {records.length === 0 && ` · ${t('explain.noRecords')}`}
      </p>
      <ul>
        {records.map(({ type, ttl, data }) => (
          <li>
            <code>
              {type} {data}
            </code>{' '}
            <small class="quiet">TTL {ttl}</small>
          </li>
        ))}
      </ul>
      {ede !== null && <p>{t('explain.ede', { code: ede.code, text: ede.text })}</p>}
      {verdict === 'deny' && records.length > 0 && <p>{t('explain.visitor')}</p>}
    </>
  );
}

/** The call that turns the verdict over for good, or ends the grant that decided, and a grant for a while. */
function Actions({ explanation, follow }: Omit<ResultProperties, 'reload'>): JSX.Element | null {
  const { flip, verdict, profile, domain, steps } = explanation;
  const decided = steps.find((step) => step.decided)?.step;
  if (decided === 'order') return <p class="notice doubtful">{t('explain.noFlip')}</p>;
  if (profile === null || decided === 'special') return null;
  const turned = verdict === 'deny' ? 'allow' : 'deny';
  const grant = (id: number): Promise<void> => {
    const body = { domain, verdict: turned, minutes: GRANT_MINUTES } as const;
    const params = { path: { profile_id: id } };
    return follow(changeBy(api.POST('/profile/{profile_id}/grants', { params, body })));
  };
  return (
    <section>
      <h2>{t('explain.remedies')}</h2>
      {flip !== null && (
        <div class="card">
          <p>
            {t(decided === 'grant' ? 'explain.flipGrant' : 'explain.flipAbout', {
              id: profile.active_id,
            })}
          </p>
          <p>
            <code>
              {flip.method} {flip.path} {flip.body && JSON.stringify(flip.body)}
            </code>
          </p>
          <Action class="main" run={() => follow(changeBy(makeFlip(flip)))}>
            {t(`explain.flip.${turned}`)}
          </Action>
        </div>
      )}
      <div class="card">
        <p>{t('explain.grantAbout', { id: profile.id })}</p>
        <Action run={() => grant(profile.id)}>
          {t(`explain.grant.${turned}`, { minutes: GRANT_MINUTES })}
        </Action>
      </div>
    </section>
  );
}

async function makeFlip({
  method,
  path,
  body,
}: NonNullable<Explanation['flip']>): Promise<{ response: Response }> {
  const request = new Request(path, {
    method,
    ...(body && { body: JSON.stringify(body), headers: { 'Content-Type': 'application/json' } }),
  });
  return { response: await send(request) };
}
