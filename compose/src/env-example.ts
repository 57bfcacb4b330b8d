import { text, type Variable, type VariableSchema } from '@weir/ops';
import {
  BUILD_ARGUMENTS,
  IMAGE_DEFAULTS,
  PASSWORDS,
  PROCESS_SCHEMAS,
  COMPOSE_SETTINGS,
  FIXED_VARIABLES,
} from './settings.js';

const COLUMNS = 120;
/** What fits on a line behind `# `, without half words. */
const LINE = /\S(?:.{0,117}(?!\S)|\S*)/g;

const INTRODUCTION = `Settings of docker-compose.yml.
compose/make-env.sh copies this file to .env and fills in the secrets. Only the secrets are required.
A commented-out line shows the default. Remove the # to set another value.
Put a file that a setting names into compose/files/<process>. The process finds it as /etc/weir/<file>.
This file is generated from the configuration schemas of the processes: npm test -- --project unit compose -u`;

/** Processes → heading of the variables that exactly these processes share. */
const HEADINGS: Readonly<Record<string, string>> = {
  'control-plane,resolver,block-page': 'Every process',
  'control-plane,resolver': 'Control plane and resolvers',
  'control-plane,block-page': 'Control plane and block page',
  'resolver,block-page': 'Resolvers and block page',
  'control-plane': 'Control plane',
  resolver: 'Resolvers',
  'block-page': 'Block page',
  migrate: 'Migrations',
};

/** The text of `.env.example`: first the required settings, then the optional ones. */
export function renderEnvExample(version: string): string {
  const offered = offeredVariables();
  const secrets = offered.filter(({ variable }) => isRequired(variable));
  const settings = offered.filter(({ variable }) => !isRequired(variable));
  const byUsers = Object.groupBy(settings, ({ users }) => users.join());
  const description = 'Tag of Weir’s images.';
  const WEIR_VERSION = text('a tag', { description, default: version });
  const sections = Object.entries(HEADINGS).map(([users, heading]) =>
    section(heading, byUsers[users] ?? []),
  );
  return [
    comment(INTRODUCTION),
    section('Secrets: letters and digits', [...secrets, ...entries(PASSWORDS)]),
    section('Docker Compose', entries({ ...COMPOSE_SETTINGS, WEIR_VERSION })),
    ...sections,
    section('Building the images', entries(BUILD_ARGUMENTS)),
  ]
    .filter((part) => part !== '')
    .join('\n');
}

interface Entry {
  readonly name: string;
  readonly variable: Variable<unknown>;
  readonly users: readonly string[];
}

function offeredVariables(): readonly Entry[] {
  const names = new Set(Object.values(PROCESS_SCHEMAS).flatMap((schema) => Object.keys(schema)));
  return [...names]
    .filter((name) => !FIXED_VARIABLES.includes(name))
    .map((name) => {
      const having = Object.entries(PROCESS_SCHEMAS).filter(([, schema]) => name in schema);
      const described = having[0][1][name];
      const variable = { ...described, default: IMAGE_DEFAULTS[name] ?? described.default };
      return { name, variable, users: having.map(([user]) => user) };
    });
}

function entries(schema: VariableSchema): Entry[] {
  return Object.entries(schema).map(([name, variable]) => ({ name, variable, users: [] }));
}

function isRequired({ default: value, absent }: Variable<unknown>): boolean {
  return value === undefined && absent === undefined;
}

function section(heading: string, variables: readonly Entry[]): string {
  if (variables.length === 0) return '';
  const rule = `# ── ${heading} `;
  return `${rule.padEnd(COLUMNS, '─')}\n\n${variables.map(setting).join('\n')}`;
}

function setting({ name, variable }: Entry): string {
  const { description, allowed, default: value = '' } = variable;
  const what = comment(`${description}\nMay be: ${allowed}.`);
  return `${what}${isRequired(variable) ? '' : '#'}${name}=${quoted(value)}\n`;
}

/** Quotes a value for Compose if it contains special characters such as # or {. */
function quoted(value: string): string {
  return /^[\w.,:/@+-]*$/.test(value) ? value : `'${value}'`;
}

function comment(text: string): string {
  return Array.from(text.matchAll(LINE), ([line]) => `# ${line}\n`).join('');
}
