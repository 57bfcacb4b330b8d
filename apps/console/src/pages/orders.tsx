import type { JSX } from 'preact';
import { useState } from 'preact/hooks';
import { allows, api, type Applied, changeBy, dataOf, type Schemas, session } from '../api.js';
import { Action, Choice, Failure, Field, InForce, Loading, Table, Time } from '../components.js';
import { csvOf, download } from '../csv.js';
import { useDraft } from '../draft.js';
import { number, t } from '../i18n/index.js';
import { EditOrder, NewOrder } from '../order-form.js';
import { useLoad } from '../use-load.js';

type Order = Schemas['OrderStateAnswer'];

/** Of a page. */
const ROWS = 100;
/** While an order is not known to be in force everywhere. */
const EVERY_MS = 5_000;
const COLUMNS = ['id', 'state', 'authority', 'reference', 'domain', 'until', 'inForce'] as const;
const STATES = ['everywhere', 'unproven', 'ended'] as const;
const LOOKS = { everywhere: 'good', unproven: 'doubtful', ended: 'quiet' };

type State = (typeof STATES)[number];

const load = (signal?: AbortSignal): Promise<Order[]> =>
  dataOf(api.GET('/orders/', signal ? { signal } : {}));

function stateOf({ until, in_force: inForce }: Order): State {
  if (until !== null && Date.parse(until) <= Date.now()) return 'ended';
  return inForce !== null && inForce.m > 0 && inForce.k === inForce.m ? 'everywhere' : 'unproven';
}

export function Orders(): JSX.Element {
  const [change, setChange] = useState<Applied | null>(null);
  const [edited, setEdited] = useDraft<Order | null>('order', null);
  const { value, error, reload } = useLoad(load, [], (orders) =>
    orders?.some((order) => stateOf(order) === 'unproven') ? EVERY_MS : undefined,
  );
  const done = (applied: Applied): void => {
    setChange(applied);
    reload();
  };
  return (
    <>
      <p>{t('orders.about')}</p>
      {allows('write') &&
        (edited === null ? (
          <NewOrder done={done} reload={reload} />
        ) : (
          <EditOrder key={edited.id} order={edited} done={done} close={() => setEdited(null)} />
        ))}
      <InForce change={change} />
      <Failure error={error} retry={reload} />
      {value === undefined ? (
        error === null && <Loading />
      ) : (
        <List orders={value} done={done} edit={setEdited} />
      )}
    </>
  );
}

interface ListProperties {
  readonly orders: readonly Order[];
  readonly done: (change: Applied) => void;
  readonly edit: (order: Order) => void;
}

function List({ orders, done, edit }: ListProperties): JSX.Element {
  const [text, setText] = useDraft('find', '');
  const [state, setState] = useDraft<State | ''>('state', '');
  const [page, setPage] = useState(0);
  const wanted = text.trim().toLowerCase();
  const isWanted = (order: Order): boolean =>
    (state === '' || stateOf(order) === state) &&
    `${order.id} ${order.authority} ${order.reference}`.toLowerCase().includes(wanted);
  const found = orders.filter(isWanted);
  const last = Math.max(Math.ceil(found.length / ROWS) - 1, 0);
  const first = Math.min(page, last) * ROWS;
  const shown = found.slice(first, first + ROWS);
  const choices = STATES.map((one) => [one, t(`orders.state.${one}`)] as const);
  const exportFound = async (): Promise<void> => {
    download('orders.csv', 'text/csv', fileOf((await load()).filter(isWanted)));
  };
  const head = COLUMNS.map((one) => t(`orders.${one}`, { zone: session.value?.timeZone ?? 'UTC' }));
  return (
    <section>
      <div class="card row">
        <Field label={t('orders.find')} value={text} onValue={setText} />
        <Choice
          label={t('orders.state')}
          value={state}
          choices={[['', t('orders.state.any')], ...choices]}
          onValue={setState}
        />
        <Action run={exportFound}>{t('orders.export')}</Action>
        <span role="status">
          {t('orders.shown', {
            ...{
              from: number(Math.min(first + 1, found.length)),
              to: number(first + shown.length),
            },
            ...{ found: number(found.length), all: number(orders.length) },
          })}
        </span>
      </div>
      <Table caption={t('page.orders')} head={allows('write') ? [...head, t('orders.act')] : head}>
        {shown.map((order) => (
          <Row key={order.id} order={order} done={done} edit={edit} />
        ))}
      </Table>
      {last > 0 && (
        <p class="row">
          <button type="button" disabled={first === 0} onClick={() => setPage(first / ROWS - 1)}>
            {t('orders.previous')}
          </button>
          <button
            type="button"
            disabled={first / ROWS === last}
            onClick={() => setPage(first / ROWS + 1)}
          >
            {t('orders.next')}
          </button>
        </p>
      )}
      <p class="quiet">{t('common.hash')}</p>
    </section>
  );
}

interface RowProperties extends Pick<ListProperties, 'done' | 'edit'> {
  readonly order: Order;
}

function Row({ order, done, edit }: RowProperties): JSX.Element {
  const { id, domain_hash: hash, authority, reference, until, in_force: inForce } = order;
  const state = stateOf(order);
  return (
    <tr>
      <th scope="row">{id}</th>
      <td>
        <span class={`badge ${LOOKS[state]}`}>{t(`orders.state.${state}`)}</span>
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
            {t(inForce.k === inForce.m ? 'orders.since' : 'orders.at')} <Time at={inForce.at} />
          </>
        )}
      </td>
      {allows('write') && (
        <td>
          <Deeds order={order} done={done} edit={edit} />
        </td>
      )}
    </tr>
  );
}

/** What somebody may do with an order. */
function Deeds({ order, done, edit }: RowProperties): JSX.Element {
  const [isSure, setSure] = useState(false);
  const params = { path: { id: order.id } };
  const end = async (): Promise<void> => {
    if (!isSure) return setSure(true);
    done(await changeBy(api.DELETE('/orders/{id}', { params })));
  };
  const prove = async (): Promise<void> => {
    done(await changeBy(api.PATCH('/orders/{id}', { params, body: {} })));
  };
  const open = (): void => {
    edit(order);
    document.querySelector('h1')?.focus();
  };
  return (
    <div class="row tight">
      <button type="button" onClick={open}>
        {t('orders.edit')}
      </button>
      {stateOf(order) === 'unproven' && <Action run={prove}>{t('orders.prove')}</Action>}
      <Action class={isSure ? 'main' : ''} run={end}>
        {isSure ? t('orders.confirmEnd', { id: order.id }) : t('orders.end')}
      </Action>
    </div>
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
