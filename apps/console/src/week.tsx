import type { JSX } from 'preact';
import type { Schemas } from './api.js';
import { ProfileLink } from './changes-table.js';
import { Table } from './components.js';
import { language, t } from './i18n/index.js';

const DAY_MS = 86_400_000;
const DAYS = 7;

interface Segment {
  readonly activeId: number;
  /** Share of the day: 0 to 1. */
  readonly from: number;
  readonly until: number;
}

/** The local time of a text of RFC 3339, as if it were UTC: days have the length that a calendar shows. */
function localMs(text: string): number {
  return Date.parse(`${text.slice(0, 'yyyy-mm-ddThh:mm:ss'.length)}Z`);
}

/** Which profile is active when, by days. */
export function daysOf(switches: readonly Schemas['Switch'][]): Map<number, Segment[]> {
  const days = new Map<number, Segment[]>();
  for (const { from, until, active_id: activeId } of switches) {
    const [fromMs, untilMs] = [localMs(from), localMs(until)];
    for (let day = Math.floor(fromMs / DAY_MS) * DAY_MS; day < untilMs; day += DAY_MS) {
      const share = (ms: number): number => Math.min(Math.max((ms - day) / DAY_MS, 0), 1);
      const segment = { activeId, from: share(fromMs), until: share(untilMs) };
      days.set(day, [...(days.get(day) ?? []), segment]);
    }
  }
  return days;
}

interface WeekProperties {
  readonly id: number;
  readonly switches: readonly Schemas['Switch'][];
}

/** The next seven days of a profile: as a picture, and as a table. */
export function Week({ id, switches }: WeekProperties): JSX.Element {
  const format = (options: Intl.DateTimeFormatOptions): Intl.DateTimeFormat =>
    new Intl.DateTimeFormat(language.value, { ...options, timeZone: 'UTC' });
  const day = format({ weekday: 'short', day: 'numeric', month: 'numeric' });
  const time = format({ weekday: 'short', hour: '2-digit', minute: '2-digit' });
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
        head={[t('week.from'), t('week.until'), t('week.active')]}
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
