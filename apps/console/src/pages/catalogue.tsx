import type { JSX } from 'preact';
import { useState } from 'preact/hooks';
import { allows, api, dataOf, type Schemas } from '../api.js';
import { Action, Failure, Field, Loading, Table, Time } from '../components.js';
import { hrefOf, navigate, place, useDraft } from '../router.js';
import { type Key, number, t } from '../i18n/index.js';
import { catalogueNames, useLoad } from '../loading.js';

type Source = Schemas['CatalogueSourceAnswer'];

const EVERY_MS = 5_000;
const MESSAGES: Readonly<Record<number, Key>> = { 409: 'catalogue.notHeld' };
const COLOURS = { good: 'good', held: 'doubtful', failing: 'bad', never: 'bad' };
/** In this order: what somebody has to look at comes first. */
const STATES = ['held', 'failing', 'never', 'good'] as const;

export function Catalogue(): JSX.Element {
  const domain = place.value.params.get('domain') ?? '';
  return (
    <>
      <Search domain={domain} />
      {domain !== '' && <Found key={place.value} domain={domain} />}
      <Sources />
    </>
  );
}

function Search({ domain }: { domain: string }): JSX.Element {
  const [text, setText] = useDraft('domain', domain);
  const submit = (event: SubmitEvent): void => {
    event.preventDefault();
    navigate(hrefOf('catalogue', { domain: text.trim() }));
  };
  return (
    <form class="card" onSubmit={submit}>
      <Field label={t('common.domain')} required value={text} onValue={setText} />
      <button type="submit">{t('catalogue.search')}</button>
    </form>
  );
}

/** The lists that have a name, or one above it. When another one is asked for, all of this starts anew. */
function Found({ domain }: { domain: string }): JSX.Element {
  const { value, error, reload } = useLoad(
    (signal) => dataOf(api.GET('/catalogue/search/', { params: { query: { domain } }, signal })),
    [],
  );
  return (
    <>
      <Failure error={error} retry={reload} />
      <div role="status">{value?.length === 0 && t('catalogue.unlisted', { domain })}</div>
      {value !== undefined && value.length > 0 && (
        <Table
          caption={t('catalogue.listed', { domain })}
          head={[
            t('catalogue.group'),
            t('catalogue.source'),
            t('catalogue.matched'),
            [t('catalogue.line')],
            t('catalogue.since'),
          ]}
        >
          {value.map(({ cat_id, app_id, name, source, matched, line, since }) => (
            <tr>
              <td>{groupOf({ cat_id, app_id }, name)}</td>
              <td>{source === 'inline' ? t('catalogue.inline') : source}</td>
              <td>{matched}</td>
              <td class="number">{number(line)}</td>
              <td>
                <Time at={since} />
              </td>
            </tr>
          ))}
        </Table>
      )}
    </>
  );
}

interface Accepted {
  readonly source: string;
  /** Null: it was accepted. */
  readonly failure: unknown;
}

function Sources(): JSX.Element {
  const [accepted, setAccepted] = useState<Accepted | null>(null);
  const { value, error, reload } = useLoad(
    async (signal) => {
      const [catalogue, names] = await Promise.all([
        dataOf(api.GET('/catalogue/', { signal })),
        catalogueNames(signal),
      ]);
      return { catalogue, ...names };
    },
    [],
    () => EVERY_MS,
  );
  if (value === undefined)
    return error === null ? <Loading /> : <Failure error={error} retry={reload} />;
  const { version, active_since: since } = value.catalogue;
  const sources = value.catalogue.sources.toSorted(
    (a, b) => STATES.indexOf(a.state) - STATES.indexOf(b.state),
  );
  const accept = async ({ cat_id, app_id, source }: Source): Promise<void> => {
    const call = api.POST('/catalogue/accept', { body: { cat_id, app_id, source } });
    const failure = await call.then(() => null).catch((caught: unknown) => caught);
    setAccepted({ source, failure });
    reload();
  };
  return (
    <section>
      <h2>{t('catalogue.sources')}</h2>
      <Failure error={error} retry={reload} />
      <p>
        {version === null
          ? t('catalogue.none')
          : t('catalogue.version', { version: number(version) })}{' '}
        {since !== null && <Time at={since} />}
      </p>
      <div role="status">
        {accepted?.failure === null && (
          <p class="notice good">{t('catalogue.accepted', { source: accepted.source })}</p>
        )}
      </div>
      <Failure error={accepted?.failure} messages={MESSAGES} />
      {sources.length === 0 ? (
        <p>{t('catalogue.noSources')}</p>
      ) : (
        <Table
          caption={t('catalogue.sources')}
          head={[
            t('catalogue.source'),
            t('catalogue.group'),
            t('common.state'),
            [t('catalogue.names')],
            t('catalogue.licence'),
            t('catalogue.commercial'),
            t('catalogue.lastGood'),
          ]}
        >
          {sources.map((one) => (
            <tr key={`${one.cat_id} ${one.app_id} ${one.source}`}>
              <th scope="row">{one.source}</th>
              <td>
                {groupOf(
                  one,
                  value.categories.get(one.cat_id ?? -1) ??
                    value.applications.get(one.app_id ?? -1),
                )}
              </td>
              <td>
                <span class={`badge ${COLOURS[one.state]}`}>
                  {t(`catalogue.state.${one.state}`)}
                </span>
                {one.mirror !== null && <p>{t('catalogue.mirror', { mirror: one.mirror })}</p>}
                {one.reason !== null && <p lang="en">{one.reason}</p>}
                {one.state === 'held' && allows('write') && (
                  <Action run={() => accept(one)}>{t('catalogue.accept')}</Action>
                )}
              </td>
              <td class="number">{number(one.names)}</td>
              <td>{one.licence ?? '–'}</td>
              <td>{t(`catalogue.commercial.${one.commercial_use ?? 'unknown'}`)}</td>
              <td>{one.last_good === null ? '–' : <Time at={one.last_good} />}</td>
            </tr>
          ))}
        </Table>
      )}
    </section>
  );
}

/** A category or application. @param name undefined: it is secret, or not in force yet. */
function groupOf(
  { cat_id: category, app_id: application }: Pick<Source, 'cat_id' | 'app_id'>,
  name: string | undefined,
): string {
  const [key, id] = category === null ? ['application', application] : ['category', category];
  return t(`explain.${key as 'application' | 'category'}`, { name: name ?? '–', id: id ?? '–' });
}
