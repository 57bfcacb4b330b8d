import { expect, it } from 'vitest';
import { chartValues, checkValues, overlay } from '../testing/values.js';
import { valuesWith, WRONG_VALUES } from './testing/wrong-values.js';

it.each(WRONG_VALUES)('%s is refused, and the message names its path', (_what, path, value) => {
  const check = (): void => checkValues(overlay(chartValues(), valuesWith(path, value)));
  const [key] = path.split('.').slice(-1);
  const above = path.split('.').slice(0, -1).join('.') || '(root)';
  const atPath = (line: string): boolean => line.startsWith(path);
  const unknownAbove = (line: string): boolean =>
    line.startsWith(above) && (line.endsWith(`"${key}"`) || line.endsWith(`'${key}'`));
  expect(check).toThrow(
    expect.toSatisfy(({ message }: Error) =>
      message.split('\n').some((line) => atPath(line) || unknownAbove(line)),
    ),
  );
});
