/** A JSON Schema (draft 7). But for `\s`, its patterns are without flags and in what ECMAScript and RE2 share. */
export type ValueSchema = Readonly<Record<string, unknown>>;

/** An environment variable: its meaning, what it may be, and how its text is parsed. */
export interface Variable<T> {
  /** One sentence for operators. */
  readonly description: string;
  /** What the variable may be, to complete "NAME must be …". */
  readonly allowed: string;
  /** Text that is used when the variable is unset or empty; undefined: the variable is required. */
  readonly default: string | undefined;
  readonly secret: boolean;
  /**
   * Schema of the value in a typed document, such as the values of the Helm chart: a number, a boolean, a list for a
   * comma-separated text, an object for JSON. It may allow more than `parse`, never less.
   */
  readonly valueSchema: ValueSchema;
  /** @throws VariableFault when the text is not what is allowed. */
  readonly parse: (text: string) => T;
  /** Value of an optional variable that is unset. Present only on optional variables. */
  readonly absent?: { readonly value: T };
  /** The variable that takes the place of this one. It is undefined where that is set, and required elsewhere. */
  readonly replacedBy?: string;
  /** The variable that must be set where this one is. */
  readonly needs?: string;
}

/** All variables of one process, by name. */
export type VariableSchema = Readonly<Record<string, Variable<unknown>>>;

/** The typed values of a schema, by variable name. */
export type Configuration<S extends VariableSchema> = {
  readonly [N in keyof S]: S[N] extends Variable<infer T> ? T : never;
};

/** Thrown by `parse` when the variable does not allow the text. The message, if any, adds a detail to `allowed`. */
export class VariableFault extends Error {
  override readonly name = 'VariableFault';
}

/**
 * Invalid or missing variables: one line each, with what the variable may be. Values may be secret and are left
 * out.
 */
export class VariableError extends Error {
  override readonly name = 'VariableError';
}

/**
 * Reads the variables of `schema` from `environment`. An empty text counts as unset.
 * @throws VariableError that names every invalid or missing variable.
 */
export function parseVariables<S extends VariableSchema>(
  schema: S,
  environment: Readonly<Record<string, string | undefined>>,
): Configuration<S> {
  const values: Record<string, unknown> = {};
  const faults: string[] = [];
  for (const [name, variable] of Object.entries(schema)) {
    const text = environment[name]?.trim() || variable.default;
    if (text === undefined) {
      const { absent, replacedBy: other } = variable;
      if (absent) values[name] = absent.value;
      else if (other !== undefined && environment[other]?.trim()) values[name] = undefined;
      else faults.push(`${name} is required: it must be ${variable.allowed}`);
      continue;
    }
    const { needs: other } = variable;
    if (other !== undefined && !environment[other]?.trim())
      faults.push(`${other} must be given with ${name}`);
    try {
      values[name] = variable.parse(text);
    } catch (error) {
      if (!(error instanceof VariableFault)) throw error;
      const detail = error.message === '' ? '' : ` (${error.message})`;
      faults.push(`${name} must be ${variable.allowed}${detail}`);
    }
  }
  if (faults.length > 0) throw new VariableError(faults.join('\n'));
  return values as Configuration<S>;
}

/** The same variable, undefined when unset. */
export function optional<T>(variable: Variable<T>): Variable<T | undefined> {
  return { ...variable, absent: { value: undefined } };
}

/** The same variable. Where it is set, the other one must be set too. */
export function needs<T>(other: string, variable: Variable<T>): Variable<T> {
  return { ...variable, needs: other };
}

/** The same variable, not needed where the other one is set. */
export function replacedBy<T>(other: string, variable: Variable<T>): Variable<T | undefined> {
  return { ...variable, replacedBy: other };
}

export interface VariableOptions {
  readonly description: string;
  readonly default?: string;
}

export function defineVariable<T>(
  options: VariableOptions,
  allowed: string,
  valueSchema: ValueSchema,
  parse: (text: string) => T,
  secret = false,
): Variable<T> {
  const { description, default: defaultText } = options;
  return { description, default: defaultText, allowed, secret, valueSchema, parse };
}

/** The schema of a text that matches the whole of a pattern. */
export function matchingSchema(pattern: string): ValueSchema {
  return { type: 'string', pattern: `^${pattern}$` };
}

/** Comma-separated items. @param items the schema of one. @param parse reads one */
export function defineList<T>(
  options: VariableOptions,
  allowed: string,
  items: ValueSchema,
  parse: (item: string) => T,
  { most = Infinity, isSecret = false } = {},
): Variable<readonly T[]> {
  const maxItems = most < Infinity && { maxItems: most };
  const schema = { type: 'array', items, minItems: 1, ...maxItems };
  const parseAll = (text: string): readonly T[] => {
    const texts = splitList(text);
    if (texts.length > most) throw new VariableFault();
    return texts.map((item) => parse(item));
  };
  return defineVariable(options, allowed, schema, parseAll, isSecret);
}

export function splitList(value: string): string[] {
  const items = value.split(',').map((item) => item.trim());
  if (items.includes('')) throw new VariableFault('an item is empty');
  return items;
}

export function bounded(value: string): string {
  return value.length > 60 ? `${value.slice(0, 60)}…` : value;
}

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
  const check = '--check only to check the variables and the files that they name';
  const args = `Arguments: none to run, ${flags.join('')}${check}, --version, --help.\n`;
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
  if (variable.replacedBy !== undefined) return `Required, unless ${variable.replacedBy} is set`;
  return variable.absent ? 'Optional' : 'Required';
}

function sentence(text: string): string {
  return `${text.charAt(0).toUpperCase()}${text.slice(1)}.`;
}

function cell(text: string): string {
  return text.replaceAll('|', String.raw`\|`);
}
