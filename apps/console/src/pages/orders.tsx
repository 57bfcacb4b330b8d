import type { JSX } from 'preact';
import { useState } from 'preact/hooks';
import { allows, api, changeBy, dataOf, ownTimeZone, type Schemas } from '../api.js';
import {
  Action,
  Choice,
  Failure,
  Field,
  type Follow,
  InForce,
  Loading,
  Table,
  Time,
  useChange,
} from '../components.js';
import { csvOf, download } from '../files.js';
import { forgetDraft, useDraft } from '../router.js';
import { number, t } from '../i18n/index.js';
import { EditOrder, NewOrder } from '../order-form.js';
import { PageButtons, type Paging, ROWS, useLoad, usePaging } from '../loading.js';

type Order = Schemas['OrderStateAnswer'];

/** While an order on the page is not known to be in force everywhere. */
const EVERY_MS = 5_000;
const COLUMNS = [
  'orders.id',
  'common.state',
  'orders.authority',
  'orders.reference',
  'common.domain',
  'common.until',
  'orders.inForce',
] as const;
const STATES = ['in_force', 'pending', 'ended'] as const;
const COLOURS = { in_force: 'good', pending: 'doubtful', ended: 'quiet' };

type State = (typeof STATES)[number];

/** As `GET /orders/` filters by it. */
function stateOf({ until, in_force: inForce }: Order): State {
  if (until !== null && Date.parse(until) <= Date.now()) return 'ended';
  return inForce !== null && inForce.m > 0 && inForce.k === inForce.m ? 'in_force' : 'pending';
}

interface Wanted {
  readonly search?: string;
  readonly state?: State;
}

const ALL: Wanted = {};

export function Orders(): JSX.Element {
  const [edited, setEdited] = useDraft<Order | null>('order', null);
  const [wanted, setWanted] = useDraft('wanted', ALL);
  const paging = usePaging<number>();
  const { after, index } = paging;
  const { value, error, reload } = useLoad(
    async (signal) => {
      const query = { ...wanted, ...(after !== null && { after }), limit: ROWS + 1 };
      return { index, orders: await dataOf(api.GET('/orders/', { params: { query }, signal })) };
    },
    [wanted, after],
    (page) => (page?.orders.some((order) => stateOf(order) === 'pending') ? EVERY_MS : undefined),
  );
  const [change, follow] = useChange(reload);
  const edit = (order: Order): void => {
    // It is open already: what was entered stays, and so does the order to which it is compared.
    if (order.id === edited?.id) return;
    forgetDraft(`order.${order.id}`);
    setEdited(order);
  };
  const find = (next: Wanted): void => {
    setWanted(next);
    paging.first();
  };
  return (
    <>
      <p>{t('orders.about')}</p>
      {allows('write') &&
        (edited === null ? (
          <NewOrder follow={follow} />
        ) : (
          <EditOrder key={edited.id} order={edited} follow={follow} close={() => setEdited(null)} />
        ))}
      <InForce change={change} />
      <section>
        <Search wanted={wanted} find={find} />
        <Failure error={error} retry={reload} />
        {value === undefined ? (
          error === null && <Loading />
        ) : (
          <List {...value} paging={paging} follow={follow} edit={edit} />
        )}
      </section>
    </>
  );
}

function Search({ wanted, find }: { wanted: Wanted; find: (wanted: Wanted) => void }): JSX.Element {
  const [text, setText] = useDraft('search', '');
  const [state, setState] = useDraft<State | ''>('state', '');
  const search = text.trim();
  const submit = (event: SubmitEvent): void => {
    event.preventDefault();
    find({ ...(search !== '' && { search }), ...(state !== '' && { state }) });
  };
  const exportFound = async (): Promise<void> => {
    const orders = await dataOf(api.GET('/orders/', { params: { query: wanted } }));
    download('orders.csv', 'text/csv', fileOf(orders));
  };
  const choices = STATES.map((one) => [one, t(`orders.state.${one}`)] as const);
  return (
    <form class="card" onSubmit={submit}>
      <Field label={t('orders.search')} value={text} onValue={setText} />
      <Choice
        label={t('common.state')}
        value={state}
        choices={[['', t('orders.state.any')], ...choices]}
        onValue={setState}
      />
      <button type="submit">{t('orders.find')}</button>
      <Action run={exportFound}>{t('orders.export')}</Action>
    </form>
  );
}

interface ListProperties {
  /** Of the page. */
  readonly index: number;
  /** Those of the page, and the first one of the next page. */
  readonly orders: readonly Order[];
  readonly paging: Paging<number>;
  readonly follow: Follow;
  readonly edit: (order: Order) => void;
}

function List({ index, orders, paging, follow, edit }: ListProperties): JSX.Element {
  const shown = orders.slice(0, ROWS);
  const first = index * ROWS;
  const head = COLUMNS.map((one) => t(one, { zone: ownTimeZone() }));
  return (
    <>
      <p role="status">
        {shown.length === 0
          ? t('orders.none')
          : t('orders.shown', { from: number(first + 1), to: number(first + shown.length) })}
      </p>
      <Table caption={t('page.orders')} head={allows('write') ? [...head, t('orders.act')] : head}>
        {shown.map((order) => (
          <Row key={order.id} order={order} follow={follow} edit={edit} />
        ))}
      </Table>
      <PageButtons
        paging={paging}
        next={orders.length > ROWS ? (shown.at(-1)?.id ?? null) : null}
      />
      <p class="quiet">{t('common.hash')}</p>
    </>
  );
}

interface RowProperties extends Pick<ListProperties, 'follow' | 'edit'> {
  readonly order: Order;
}

function Row({ order, follow, edit }: RowProperties): JSX.Element {
  const { id, domain_hash: hash, authority, reference, until, in_force: inForce } = order;
  const state = stateOf(order);
  return (
    <tr>
      <th scope="row">{id}</th>
      <td>
        <span class={`badge ${COLOURS[state]}`}>{t(`orders.state.${state}`)}</span>
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
            {t(inForce.k === inForce.m ? 'common.since' : 'orders.at')} <Time at={inForce.at} />
          </>
        )}
      </td>
      {allows('write') && (
        <td>
          <RowActions order={order} follow={follow} edit={edit} />
        </td>
      )}
    </tr>
  );
}

function RowActions({ order, follow, edit }: RowProperties): JSX.Element {
  const [isSure, setSure] = useState(false);
  const params = { path: { id: order.id } };
  const end = async (): Promise<void> => {
    if (!isSure) return setSure(true);
    await follow(changeBy(api.DELETE('/orders/{id}', { params })));
  };
  const prove = (): Promise<void> =>
    follow(changeBy(api.PATCH('/orders/{id}', { params, body: {} })));
  const open = (): void => {
    edit(order);
    document.querySelector('h1')?.focus();
  };
  return (
    <div class="row tight">
      <button id={`edit-${order.id}`} type="button" onClick={open}>
        {t('orders.edit')}
      </button>
      {stateOf(order) === 'pending' && <Action run={prove}>{t('orders.prove')}</Action>}
      <Action class={isSure ? 'main' : ''} run={end}>
        {isSure ? t('orders.confirmEnd', { id: order.id }) : t('common.end')}
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
