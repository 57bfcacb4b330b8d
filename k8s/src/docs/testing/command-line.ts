/** A command as its program reads it. */
export interface CommandLine {
  /** What is no option, the program itself among it. */
  readonly words: readonly string[];
  /** Name without dashes and value, as often as it is given; null where it has none. */
  readonly options: readonly (readonly [name: string, value: string | null])[];
}

/** @param flags options that take no value. */
export function parseCommandLine(command: string, flags: readonly string[]): CommandLine {
  const words: string[] = [];
  const options: [string, string | null][] = [];
  const tokens = splitWords(command);
  for (let at = 0; at < tokens.length; at++) {
    const [, name, value] = /^--?([a-z][\w-]*)(?:=(.*))?$/s.exec(tokens[at]) ?? [];
    if (name === undefined) words.push(tokens[at]);
    else if (value !== undefined) options.push([name, value]);
    else if (flags.includes(name)) options.push([name, null]);
    else options.push([name, tokens[++at]]);
  }
  return { words, options };
}

/** As a shell splits a line; what is between quotes stays together. */
function splitWords(command: string): string[] {
  const parts = command.matchAll(/(?:"[^"]*"|'[^']*'|[^\s"'])+/g);
  return [...parts].map(([word]) => word.replaceAll(/["']/g, ''));
}
