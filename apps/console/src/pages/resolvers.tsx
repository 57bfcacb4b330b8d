import type { JSX } from 'preact';
import { useEffect, useState } from 'preact/hooks';
import { api, dataOf, type Schemas } from '../api.js';
import { Chart } from '../chart.js';
import { Failure, Loading, Table, Time } from '../components.js';
import { number, percent, t } from '../i18n/index.js';
import { useLoad } from '../loading.js';

const EVERY_MS = 1_000;
/** Times that the chart shows: ten minutes. */
const MAX_SAMPLES = 600;
/** The shortest time that the chart shows. */
const SHOWN_S = 60;
const COLOURS = { live: 'good', catching_up: 'doubtful', missing: 'bad' };

type Resolver = Schemas['ResolverAnswer'];

export function Resolvers(): JSX.Element {
  const { value, error, reload } = useLoad(
    (signal) => dataOf(api.GET('/resolvers/', { signal })),
    [],
    () => EVERY_MS,
  );
  return (
    <>
      <Failure error={error} retry={reload} />
      {value === undefined ? error === null && <Loading /> : <List resolvers={value} />}
      {value !== undefined && value.length > 0 && <Answers resolvers={value} />}
    </>
  );
}

interface Sample {
  readonly seconds: number;
  readonly resolvers: readonly Resolver[];
}

/** Answers a second of each resolver since the page was opened. */
function Answers({ resolvers }: { resolvers: readonly Resolver[] }): JSX.Element {
  // The first one has no values: the chart shows a minute from the start.
  const [samples, setSamples] = useState<readonly Sample[]>(() => [
    { seconds: Date.now() / 1_000 - SHOWN_S, resolvers: [] },
  ]);
  useEffect(() => {
    const sample = { seconds: Date.now() / 1_000, resolvers };
    setSamples((before) => [...before.slice(1 - MAX_SAMPLES), sample]);
  }, [resolvers]);
  const names = resolvers.map(({ name }) => name);
  const valueOf = (sample: Sample, name: string): number | null =>
    sample.resolvers.find((one) => one.name === name)?.answers_per_second ?? null;
  const lines = names.map((name) => samples.map((sample) => valueOf(sample, name)));
  return (
    <section>
      <h2>{t('resolvers.answers')}</h2>
      <Chart
        label={t('resolvers.chart')}
        names={names}
        data={[samples.map(({ seconds }) => seconds), ...lines]}
      />
    </section>
  );
}

function List({ resolvers }: { resolvers: readonly Resolver[] }): JSX.Element {
  if (resolvers.length === 0) return <p class="notice bad">{t('resolvers.none')}</p>;
  const live = resolvers.filter(({ state }) => state === 'live').length;
  const isWell = live === resolvers.length;
  return (
    <>
      <p class={`notice headline ${isWell ? 'good' : 'bad'}`} role="status">
        {t(isWell ? 'resolvers.allLive' : 'resolvers.someLive', { live, all: resolvers.length })}
      </p>
      <Table
        caption={t('page.resolvers')}
        head={[
          t('resolvers.name'),
          t('common.state'),
          [t('common.revision')],
          [t('resolvers.lag')],
          [t('resolvers.answers')],
          [t('resolvers.hits')],
          [t('resolvers.blocked')],
          t('resolvers.upstreams'),
          [t('page.catalogue')],
          t('resolvers.seen'),
        ]}
      >
        {resolvers.map((resolver) => (
          <Row key={resolver.name} resolver={resolver} />
        ))}
      </Table>
    </>
  );
}

function Row({ resolver }: { resolver: Resolver }): JSX.Element {
  const { name, address, version, state, revision, upstreams } = resolver;
  const down = upstreams.filter((upstream) => upstream.state === 'down');
  const lag = resolver.behind_seconds;
  return (
    <tr class={state === 'live' ? undefined : COLOURS[state]}>
      <th scope="row">
        {name}
        <br />
        <small class="quiet">{[address, version].filter(Boolean).join(' · ')}</small>
      </th>
      <td>
        <span class={`badge ${COLOURS[state]}`}>{t(`resolvers.state.${state}`)}</span>
      </td>
      <td class="number">{number(revision)}</td>
      <td class="number">
        {lag === null
          ? '–'
          : t('resolvers.behind', {
              seconds: number(lag),
              revisions: number(resolver.behind_revisions ?? 0),
            })}
      </td>
      <td class="number">{orDash(resolver.answers_per_second, number)}</td>
      <td class="number">{orDash(resolver.cache_hit_ratio, percent)}</td>
      <td class="number">{orDash(resolver.blocked_ratio, percent)}</td>
      <td class={down.length > 0 ? 'bad' : undefined}>
        {down.length > 0
          ? t('resolvers.down', { addresses: down.map((one) => one.address).join(', ') })
          : t('resolvers.up', { count: upstreams.length })}
      </td>
      <td class="number">{orDash(resolver.catalogue, number)}</td>
      <td>
        <Time at={resolver.last_seen} />
      </td>
    </tr>
  );
}

function orDash(value: number | null, format: (value: number) => string): string {
  return value === null ? '–' : format(value);
}
