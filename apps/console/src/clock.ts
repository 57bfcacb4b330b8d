/** What the clocks of a time zone show at a time of RFC 3339: `2026-12-31T23:59`. */
export function shownAt(time: string, timeZone: string): string {
  return clockOf(timeZone)
    .format(Date.parse(time))
    .replace(' ', 'T')
    .slice(0, 'yyyy-mm-ddThh:mm'.length);
}

function clockOf(timeZone: string): Intl.DateTimeFormat {
  return new Intl.DateTimeFormat('sv-SE', { dateStyle: 'short', timeStyle: 'medium', timeZone });
}

/**
 * The time at which the clocks of a time zone show something.
 * @param shown `2026-12-31T23:59`. When it is left out as summer time begins: an hour later; when it comes twice as
 *   summer time ends: the second one.
 * @returns RFC 3339, UTC
 */
export function timeOf(shown: string, timeZone: string): string {
  const clock = clockOf(timeZone);
  const wanted = Date.parse(`${shown}Z`);
  const differenceAt = (time: number): number =>
    wanted - Date.parse(`${clock.format(time).replace(' ', 'T')}Z`);
  // The first step may be over the beginning or end of summer time; the second one sees it.
  const near = wanted + differenceAt(wanted);
  return new Date(near + differenceAt(near)).toISOString();
}
