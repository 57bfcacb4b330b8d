/** @throws Error unless the value of the option is an integer from `lowest` to `highest` */
export function readInteger(option: string, text: string, highest: number, lowest = 1): number {
  const value = /^\d+$/.test(text) ? Number(text) : Number.NaN;
  if (value >= lowest && value <= highest) return value;
  throw new Error(`${option}: ${text} is not an integer from ${lowest} to ${highest}`);
}

/** @throws Error unless the value of the option is above 0 and at most 1 */
export function readShare(option: string, text: string): number {
  const value = Number(text);
  if (value > 0 && value <= 1) return value;
  throw new Error(`${option}: ${text} is not a number above 0 and at most 1`);
}

/** The names of a list, in any case and separated by commas. @throws Error for a name that is not known */
export function readNames(option: string, text: string, known: readonly string[]): string[] {
  const lowerCase = new Map(known.map((name) => [name.toLowerCase(), name]));
  return text.split(',').map((name) => {
    const found = lowerCase.get(name.trim().toLowerCase());
    if (found === undefined) throw new Error(`${option}: there is no ${name}`);
    return found;
  });
}
