import type { JSX } from 'preact';
import { useState } from 'preact/hooks';
import { allows, api, type Applied, changeBy, dataOf, type Schemas, session } from '../api.js';
import { timeOf } from '../clock.js';
import { Action, Failure, Field, InForce, Loading, Table, Time } from '../components.js';
import { csvOf, download } from '../csv.js';
import { number, t } from '../i18n/index.js';
import { useLoad } from '../use-load.js';

type Order = Schemas['OrderStateAnswer'];

/** So many rows at most; the file has all that were found. */
const MAX_SHOWN = 500;
const COLUMNS = ['id', 'state', 'authority', 'reference', 'domain', 'until', 'inForce'] as const;

export function Orders(): JSX.Element {
  const [change, setChange] = useState<Applied | null>(null);
  const { value, error, reload } = useLoad((signal) => dataOf(api.GET('/orders/', { signal })), []);
  const done = (applied: Applied): void => {
    setChange(applied);
    reload();
  };
  return (
    <>
      <p>{t('orders.about')}</p>
      {allows('write') && <NewOrder done={done} />}
      <InForce change={change} />
      <Failure error={error} retry={reload} />
      {value === undefined ? error === null && <Loading /> : <List orders={value} done={done} />}
    </>
  );
}

interface ListProperties {
  readonly orders: readonly Order[];
  readonly done: (change: Applied) => void;
}

function List({ orders, done }: ListProperties): JSX.Element {
  const [text, setText] = useState('');
  const wanted = text.trim().toLowerCase();
  const found = orders.filter(({ id, authority, reference }) =>
    `${id} ${authority} ${reference}`.toLowerCase().includes(wanted),
  );
  const end = async ({ id }: Order): Promise<void> => {
    done(await changeBy(api.DELETE('/orders/{id}', { params: { path: { id } } })));
  };
  const head = COLUMNS.map((one) => t(`orders.${one}`));
  return (
    <section>
      <div class="card row">
        <Field label={t('orders.find')} value={text} onValue={setText} />
        <button type="button" onClick={() => download('orders.csv', 'text/csv', fileOf(found))}>
          {t('orders.export')}
        </button>
        <span role="status">
          {t('orders.shown', {
            shown: number(Math.min(found.length, MAX_SHOWN)),
            all: number(orders.length),
          })}
        </span>
      </div>
      <Table caption={t('page.orders')} head={allows('write') ? [...head, t('orders.end')] : head}>
        {found.slice(0, MAX_SHOWN).map((order) => (
          <Row key={order.id} order={order} end={allows('write') ? () => end(order) : undefined} />
        ))}
      </Table>
      <p class="quiet">{t('common.hash')}</p>
    </section>
  );
}

interface RowProperties {
  readonly order: Order;
  readonly end: (() => Promise<void>) | undefined;
}

function Row({ order, end }: RowProperties): JSX.Element {
  const { id, domain_hash: hash, authority, reference, until, in_force: inForce } = order;
  const [isSure, setSure] = useState(false);
  const hasEnded = until !== null && Date.parse(until) <= Date.now();
  return (
    <tr>
      <th scope="row">{id}</th>
      <td>
        <span class={hasEnded ? 'badge quiet' : 'badge good'}>
          {t(hasEnded ? 'orders.ended' : 'orders.set')}
        </span>
      </td>
      <td>{authority}</td>
      <td>{reference}</td>
      <td>{t('common.hashOf', { hash })}</td>
      <td>{until === null ? t('orders.noEnd') : <Time at={until} />}</td>
      <td>
        {inForce === null ? (
          t('orders.unknown')
        ) : (
          <>
            <span class={inForce.k === inForce.m ? undefined : 'doubtful'}>
              {t('orders.proof', { ...inForce, revision: number(inForce.revision) })}
            </span>
            <br />
            <Time at={inForce.at} />
          </>
        )}
      </td>
      {end && (
        <td>
          <Action
            class={isSure ? 'main' : ''}
            run={isSure ? end : () => Promise.resolve(setSure(true))}
          >
            {isSure ? t('orders.confirmEnd', { id }) : t('orders.end')}
          </Action>
        </td>
      )}
    </tr>
  );
}

function NewOrder({ done }: Pick<ListProperties, 'done'>): JSX.Element {
  const [id, setId] = useState('');
  const [domain, setDomain] = useState('');
  const [authority, setAuthority] = useState('');
  const [reference, setReference] = useState('');
  const [until, setUntil] = useState('');
  const required = [id, domain, authority, reference].map((text) => text.trim());
  const add = async (): Promise<void> => {
    const body = {
      id: Number(id),
      domain: domain.trim(),
      authority: authority.trim(),
      reference: reference.trim(),
      until: until === '' ? null : timeOf(until, session.value?.timeZone ?? 'UTC'),
    };
    done(await changeBy(api.POST('/orders/', { body })));
    for (const clear of [setId, setDomain, setReference, setUntil]) clear('');
  };
  return (
    <section>
      <h2>{t('orders.new')}</h2>
      <div class="card row">
        <Field label={t('orders.id')} inputMode="numeric" value={id} onValue={setId} />
        <Field label={t('orders.domain')} value={domain} onValue={setDomain} />
        <Field label={t('orders.authority')} value={authority} onValue={setAuthority} />
        <Field label={t('orders.reference')} value={reference} onValue={setReference} />
        <Field
          label={t('orders.until')}
          hint={t('orders.untilHint', { zone: session.value?.timeZone ?? 'UTC' })}
          type="datetime-local"
          value={until}
          onValue={setUntil}
        />
        <Action class="main" disabled={required.includes('')} run={add}>
          {t('orders.add')}
        </Action>
      </div>
    </section>
  );
}

/** With the names of the API's fields, times in UTC. */
function fileOf(orders: readonly Order[]): string {
  const head = [
    ...['id', 'domain_hash', 'authority', 'reference', 'until'],
    ...['in_force_at', 'in_force_on', 'of_resolvers', 'revision'],
  ];
  return csvOf([
    head,
    ...orders.map(({ id, domain_hash, authority, reference, until, in_force: inForce }) => [
      ...[id, domain_hash, authority, reference, until],
      ...(inForce === null
        ? [null, null, null, null]
        : [inForce.at, inForce.k, inForce.m, inForce.revision]),
    ]),
  ]);
}
