import { applyDecorators } from '@nestjs/common';
import { MAX_UNTIL } from '@weir/config-model';
import { parseTime } from '@weir/ops';
import { IsTime, Rule } from '../../http/validation/rules.js';

const DAY_S = 86_400;

/** A time that is still to come, cut to whole seconds. @param days so many from now at most. */
export function IsUntil(days = Infinity): PropertyDecorator {
  const msg =
    days === Infinity
      ? 'Must be in the future'
      : `Must be in the future, at most ${days} days from now`;
  return applyDecorators(
    IsTime(),
    Rule((text) => {
      const [nowS, untilS] = [Date.now() / 1_000, toSeconds(text as string)];
      const isRight = untilS > nowS && untilS <= Math.min(MAX_UNTIL, nowS + days * DAY_S);
      return isRight ? null : { msg, type: 'value_error' };
    }),
  );
}

/** Unix seconds of a text that `IsUntil` allows. */
export function toSeconds(text: string): number {
  return Math.floor(parseTime(text) / 1_000);
}

/** RFC 3339, in UTC. */
export function toTimeText(seconds: number): string {
  return new Date(seconds * 1_000).toISOString().replace('.000Z', 'Z');
}
