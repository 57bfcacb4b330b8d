import type { JSX } from 'preact';
import type { Schemas } from './api.js';
import { Table, Time } from './components.js';
import { number, t } from './i18n/index.js';
import { hrefOf } from './router.js';

type Changed = Schemas['Changed'];

export function ChangesTable({
  changes,
}: {
  changes: readonly Schemas['ChangeAnswer'][];
}): JSX.Element {
  if (changes.length === 0) return <p>{t('changes.none')}</p>;
  return (
    <>
      <Table
        caption={t('changes.title')}
        head={[
          t('changes.time'),
          [t('common.revision')],
          t('changes.who'),
          t('changes.call'),
          t('changes.what'),
        ]}
      >
        {changes.map(({ revision, time, token, source, method, route, changed }) => (
          <tr key={revision}>
            <td>
              <Time at={time} />
            </td>
            <td class="number">{number(revision)}</td>
            <td>
              {token ?? '–'} <small class="quiet">{source}</small>
            </td>
            <td>{method === null ? '–' : <code>{`${method} ${route}`}</code>}</td>
            <td>
              <ul class="plain">
                {changed.map((one) => (
                  <li>
                    <ChangedResource changed={one} />
                  </li>
                ))}
              </ul>
            </td>
          </tr>
        ))}
      </Table>
      <p class="quiet">{t('common.hash')}</p>
    </>
  );
}

function ChangedResource({
  changed: { resource, key, action, count },
}: {
  changed: Changed;
}): JSX.Element {
  // The keys of the others are not recorded.
  if (resource === 'more') return <>{t('changes.more', { count: number(count) })}</>;
  return (
    <>
      {t(`changes.action.${action}`)}: <code>{resource}</code>{' '}
      <ResourceKey resource={resource} value={key} />
      {count > 1 && ` × ${number(count)}`}
    </>
  );
}

/** A key, with a link to the page that it leads to. */
export function ResourceKey({
  resource,
  value,
}: {
  resource: Changed['resource'];
  value: unknown;
}): JSX.Element | null {
  if (value === null || value === undefined) return null;
  if (typeof value === 'object') {
    const { profile_id: profile, domain_hash: hash } = value as Record<string, number | undefined>;
    return (
      <>
        {profile !== undefined && <ProfileLink id={profile} />}{' '}
        {hash !== undefined && t('common.hashOf', { hash })}
      </>
    );
  }
  const text = typeof value === 'string' ? value : JSON.stringify(value);
  if (resource === 'profile' || resource === 'schedule') return <ProfileLink id={Number(text)} />;
  const address = /^[\da-f.:]*[.:][\da-f.:]*(?=\/\d+$)|^[\d.]+(?=:)/.exec(text);
  if (address === null) return <code>{text}</code>;
  const port = /^[\d.]+:(\d+)/.exec(text)?.[1];
  return <a href={hrefOf('explain', { client: address[0], port })}>{text}</a>;
}

export function ProfileLink({ id }: { id: number }): JSX.Element {
  return <a href={hrefOf(`profiles/${id}`)}>{t('common.profile', { id })}</a>;
}

/** A network or a range of ports, as keys show them: `192.0.2.1/32`, `192.0.2.1:1024-2047`. */
export function subscriberText({
  kind,
  ip,
  prefix_len,
  lower_port_bound,
  upper_port_bound,
}: NonNullable<Schemas['ExplanationAnswer']['subscriber']>): string {
  return kind === 'napt' ? `${ip}:${lower_port_bound}-${upper_port_bound}` : `${ip}/${prefix_len}`;
}
