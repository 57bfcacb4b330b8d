import { number, t } from './i18n/index.js';

const DAY_S = 86_400;
const HOUR_S = 3_600;
const MINUTE_S = 60;

/** `2 days, 1:05:09` */
export function duration(seconds: number): string {
  const days = Math.floor(seconds / DAY_S);
  const twoDigits = (value: number): string => String(value).padStart(2, '0');
  const [hours, minutes] = [
    Math.floor((seconds % DAY_S) / HOUR_S),
    Math.floor((seconds % HOUR_S) / MINUTE_S),
  ];
  const clock = `${hours}:${twoDigits(minutes)}:${twoDigits(seconds % MINUTE_S)}`;
  return days === 0 ? clock : `${t('common.days', { days: number(days) })}, ${clock}`;
}
