import type { JSX } from 'preact';
import type { Schemas } from './api.js';
import { ProfileLink } from './changes-table.js';
import { Table } from './components.js';
import { daysOf, localMs } from './clock.js';
import { locale, t } from './i18n/index.js';

const DAYS = 7;
const DATE = { weekday: 'short', day: 'numeric', month: 'numeric' } as const;

interface WeekProperties {
  readonly id: number;
  readonly switches: readonly Schemas['Switch'][];
}

/** The next seven days of a profile: as a picture, and as a table. */
export function Week({ id, switches }: WeekProperties): JSX.Element {
  const format = (options: Intl.DateTimeFormatOptions): Intl.DateTimeFormat =>
    new Intl.DateTimeFormat(locale.value, { ...options, timeZone: 'UTC' });
  const day = format(DATE);
  const time = format({ ...DATE, hour: '2-digit', minute: '2-digit' });
  const at = (text: string): JSX.Element => (
    <time dateTime={text}>{time.format(localMs(text))}</time>
  );
  return (
    <section>
      <h2>{t('week.title')}</h2>
      <div class="week" aria-hidden="true">
        {[...daysOf(switches)].slice(0, DAYS + 1).map(([ms, segments]) => (
          <div key={ms}>
            <span>{day.format(ms)}</span>
            <svg viewBox="0 0 240 10" preserveAspectRatio="none">
              {segments.map(({ activeId, from, until }) => (
                <rect
                  class={activeId === id ? 'own' : 'other'}
                  x={from * 240}
                  width={(until - from) * 240}
                  height={10}
                />
              ))}
            </svg>
          </div>
        ))}
      </div>
      <Table
        caption={t('week.switches')}
        head={[t('week.from'), t('common.until'), t('week.active')]}
      >
        {switches.map(({ from, until, active_id }) => (
          <tr key={from}>
            <td>{at(from)}</td>
            <td>{at(until)}</td>
            <td>
              <ProfileLink id={active_id} />
            </td>
          </tr>
        ))}
      </Table>
    </section>
  );
}
