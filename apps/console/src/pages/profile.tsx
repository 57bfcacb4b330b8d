import type { JSX } from 'preact';
import { useState } from 'preact/hooks';
import { allows, api, changeBy, dataOf, type Schemas } from '../api.js';
import { ChangesTable, subscriberText } from '../changes-table.js';
import {
  Action,
  Button,
  Choice,
  Failure,
  Field,
  type Follow,
  InForce,
  Loading,
  Remaining,
  Table,
  Time,
  useChange,
  useRun,
  wholeNumber,
} from '../components.js';
import { hrefOf, navigate, type PageProperties, place, useDraft } from '../router.js';
import { t } from '../i18n/index.js';
import { catalogueNames, PageButtons, ROWS, useGrants, useLoad, usePaging } from '../loading.js';
import { Week } from '../week.js';

const SHOWN_CHANGES = 20;
const VERDICTS = ['allow', 'deny'] as const;

export function Profile({ rest }: PageProperties): JSX.Element {
  const [text, setText] = useDraft('id', rest);
  const submit = (event: SubmitEvent): void => {
    event.preventDefault();
    navigate(hrefOf(`profiles/${encodeURIComponent(text.trim())}`));
  };
  return (
    <>
      <form class="card" onSubmit={submit}>
        <Field
          label={t('profile.id')}
          inputMode="numeric"
          required
          value={text}
          onValue={setText}
        />
        <button type="submit">{t('profile.show')}</button>
      </form>
      {/^\d+$/.test(rest) ? (
        <Sections key={place.value} id={Number(rest)} />
      ) : (
        rest !== '' && (
          <p class="notice bad" role="alert">
            {t('error.invalid')}
          </p>
        )
      )}
    </>
  );
}

function Sections({ id }: { id: number }): JSX.Element {
  const [changed, setChanged] = useState(0);
  const params = { path: { profile_id: id } };
  const { value, error, reload } = useLoad(
    async (signal) => {
      const [profile, switches] = await Promise.all([
        dataOf(api.GET('/profiles/{profile_id}', { params, signal })),
        dataOf(api.GET('/profile/{profile_id}/switches', { params, signal })),
      ]);
      return { profile, switches };
    },
    [id],
  );
  if (value === undefined)
    return error === null ? <Loading /> : <Failure error={error} retry={reload} />;
  return (
    <>
      <Week id={id} switches={value.switches} />
      <Blocks profile={value.profile} />
      <Grants id={id} onChange={() => setChanged((before) => before + 1)} />
      <Subscribers id={id} />
      <RecentChanges id={id} changed={changed} />
    </>
  );
}

/** What it blocks, by the names of the catalogue. */
function Blocks({
  profile: { profile, cat_ids, apps },
}: {
  profile: Schemas['ProfileAnswer'];
}): JSX.Element {
  const { value, error } = useLoad(catalogueNames, []);
  const flags = (
    ['white_list_only', 'empty_dns_answer', 'appaware_priority_over_bwlists'] as const
  ).filter((flag) => profile[flag]);
  return (
    <section>
      <h2>{t('profile.blocks')}</h2>
      <Failure error={error} />
      <p>{t('profile.page', { id: profile.page_id ?? '–' })}</p>
      {flags.length > 0 && (
        <ul>
          {flags.map((flag) => (
            <li>{t(`profile.flag.${flag}`)}</li>
          ))}
        </ul>
      )}
      <p>
        {t('profile.categories')}{' '}
        {cat_ids.map((one) => value?.categories.get(one) ?? one).join(', ') || t('profile.none')}
      </p>
      <ul>
        {apps.map(({ app_id, status }) => (
          <li>
            {value?.applications.get(app_id) ?? app_id}: {t(`explain.says.${status}`)}
          </li>
        ))}
      </ul>
    </section>
  );
}

function Grants({ id, onChange }: { id: number; onChange: () => void }): JSX.Element {
  const paging = usePaging<Schemas['StoredGrant']>();
  const { value, error, reload } = useGrants(id, paging.after);
  const shown = value?.slice(0, ROWS) ?? [];
  const [change, follow] = useChange(() => {
    reload();
    onChange();
  });
  const end = (grant: number): Promise<void> => {
    const params = { path: { profile_id: id, id: grant } };
    return follow(changeBy(api.DELETE('/profile/{profile_id}/grants/{id}', { params })));
  };
  const head = [
    t('common.verdict'),
    t('common.domain'),
    t('common.until'),
    [t('grants.remaining')] as const,
  ];
  return (
    <section>
      <h2>{t('grants.title')}</h2>
      <Failure error={error} />
      <InForce change={change} />
      {value?.length === 0 && <p>{t('profile.none')}</p>}
      {shown.length > 0 && (
        <Table
          caption={t('grants.title')}
          head={allows('write') ? [...head, t('common.end')] : head}
        >
          {shown.map((grant) => (
            <tr key={grant.id}>
              <td>{t(`explain.says.${grant.verdict}`)}</td>
              <td>{t('common.hashOf', { hash: grant.domain_hash })}</td>
              <td>
                <Time at={grant.until} />
              </td>
              <td class="number">
                <Remaining until={grant.until} />
              </td>
              {allows('write') && (
                <td>
                  <Action run={() => end(grant.id)}>{t('common.end')}</Action>
                </td>
              )}
            </tr>
          ))}
        </Table>
      )}
      <PageButtons paging={paging} next={(value?.length ?? 0) > ROWS ? shown[ROWS - 1] : null} />
      {allows('write') && <NewGrant id={id} follow={follow} />}
    </section>
  );
}

function NewGrant({ id, follow }: { id: number; follow: Follow }): JSX.Element {
  const [domain, setDomain] = useDraft('grant.domain', '');
  const [minutes, setMinutes] = useDraft('grant.minutes', '30');
  const [verdict, setVerdict] = useDraft<(typeof VERDICTS)[number]>('grant.verdict', 'allow');
  const add = async (): Promise<void> => {
    const body = { domain: domain.trim(), verdict, minutes: wholeNumber(minutes) };
    const params = { path: { profile_id: id } };
    await follow(changeBy(api.POST('/profile/{profile_id}/grants', { params, body })));
    setDomain('', domain);
  };
  const { isRunning, error, submit } = useRun(add);
  return (
    <form class="card row" onSubmit={submit}>
      <Field label={t('grants.newDomain')} required value={domain} onValue={setDomain} />
      <Choice
        label={t('common.verdict')}
        value={verdict}
        choices={VERDICTS.map((one) => [one, t(`explain.flip.${one}`)] as const)}
        onValue={setVerdict}
      />
      <Field label={t('grants.minutes')} inputMode="numeric" value={minutes} onValue={setMinutes} />
      <Button isOff={isRunning}>{t('common.add')}</Button>
      <Failure error={error} />
    </form>
  );
}

/** The networks and ranges that have it, by pages. */
function Subscribers({ id }: { id: number }): JSX.Element {
  const paging = usePaging<string>();
  const { after } = paging;
  const query = { ...(after !== null && { after }), limit: ROWS };
  const params = { path: { profile_id: id }, query };
  const { value, error, reload } = useLoad(
    (signal) => dataOf(api.GET('/profile/{profile_id}/subscribers', { params, signal })),
    [id, after],
  );
  return (
    <section>
      <h2>{t('profile.subscribers')}</h2>
      <Failure error={error} retry={reload} />
      {value?.subscribers.length === 0 && <p>{t('profile.none')}</p>}
      <ul class="plain wide">
        {value?.subscribers.map((subscriber) => (
          <li>
            <a
              href={hrefOf('explain', {
                client: subscriber.ip,
                port: subscriber.lower_port_bound,
              })}
            >
              {subscriberText(subscriber)}
            </a>
          </li>
        ))}
      </ul>
      <PageButtons paging={paging} next={value?.next ?? null} />
    </section>
  );
}

/** @param changed how many changes this page has made: each loads them again */
function RecentChanges({ id, changed }: { id: number; changed: number }): JSX.Element {
  const query = { last: SHOWN_CHANGES, profile_id: id };
  const { value, error, reload } = useLoad(
    (signal) => dataOf(api.GET('/changes/', { params: { query }, signal })),
    [id, changed],
  );
  return (
    <section>
      <h2>{t('page.changes')}</h2>
      <Failure error={error} retry={reload} />
      {value && <ChangesTable changes={value.changes.toReversed()} />}
      <p>
        <a href={hrefOf('changes', { profile_id: id })}>{t('profile.allChanges')}</a>
      </p>
    </section>
  );
}
