import type { Variable, VariableSchema } from './variable.js';

/** The variables of a process for a terminal (`--help`). */
export function renderHelp(options: {
  name: string;
  description: string;
  schema: VariableSchema;
  flags?: Readonly<Record<string, string>>;
  notes?: string;
}): string {
  const entries = Object.entries(options.schema).map(
    ([name, variable]) =>
      `  ${name}\n      ${variable.description}\n      ${sentence(variable.allowed)} ${presence(variable)}.\n`,
  );
  const flags = Object.entries(options.flags ?? {}).map(
    ([flag, meaning]) => `${flag} ${meaning}, `,
  );
  const notes = options.notes === undefined ? '' : `\n${options.notes}\n`;
  const head = `${options.name}: ${options.description}\n\n`;
  const args = `Arguments: none to run, ${flags.join('')}--check to check the variables only, --version, --help.\n`;
  return `${head}${args}The environment configures it:\n\n${entries.join('')}${notes}`;
}

/** The variables of a process as a Markdown table: the configuration reference. */
export function renderReference(schema: VariableSchema): string {
  const rows = Object.entries(schema).map(
    ([name, variable]) =>
      `| \`${name}\` | ${cell(variable.description)} ` +
      `| ${cell(sentence(variable.allowed))} | ${cell(presence(variable))} |\n`,
  );
  return `| Variable | Meaning | May be | When unset |\n| --- | --- | --- | --- |\n${rows.join('')}`;
}

function presence(variable: Variable<unknown>): string {
  if (variable.default !== undefined) return `Default ${variable.default}`;
  return variable.absent ? 'Optional' : 'Required';
}

function sentence(text: string): string {
  return `${text.charAt(0).toUpperCase()}${text.slice(1)}.`;
}

function cell(text: string): string {
  return text.replaceAll('|', String.raw`\|`);
}
