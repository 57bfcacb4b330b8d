import type { Command } from 'commander';
import { readFileSync } from 'node:fs';
import { expect, it } from 'vitest';
import type { Context } from './context.js';
import { createProgram } from './program.js';
import { run } from './run.js';
import { Terminal } from './terminal.js';

const PAGE = new URL('../../../docs/command-line.md', import.meta.url);
const HEADING = '\n## Commands\n';

/** What a command line prints, and its exit code. */
async function said(...argv: string[]): Promise<readonly [printed: string, status: number]> {
  let printed = '';
  const sink = { write: (text: string) => ((printed += text), true) };
  const status = await run(argv, contextOf(new Terminal(sink, sink)));
  return [printed, status];
}

const contextOf = (terminal: Terminal): Context => ({
  environment: {},
  terminal,
  input: (async function* () {})(),
  interrupted: () => new AbortController().signal,
});

it.each([
  [[], /^Usage: weir /],
  [['explain'], /^Usage: weir explain /],
  [['token'], /^Usage: weir token /],
  [['token', 'create'], /^Usage: weir token create /],
])('weir help %j prints what --help does', async (names, usage) => {
  const help = await said('help', ...names);
  expect(help).toEqual([expect.stringMatching(usage), 0]);
  expect(help).toEqual(await said(...names, '--help'));
});

it.each(['orders', 'token'])(
  'weir %s --help says of all its commands what they do',
  async (name) => {
    const [help] = await said(name, '--help');
    expect(help).not.toContain('display help');
    expect(help).toMatch(/ {2}help \[command\] +print this text, or that of a command\n/);
  },
);

it('weir help of a command that is not there is a wrong command line', async () => {
  expect((await said('help', 'orders', 'nope'))[1]).toBe(2);
});

it('docs/command-line.md has the help of every command', async () => {
  const nothing = { write: () => true };
  const program = createProgram(contextOf(new Terminal(nothing, nothing)));
  const introduction = readFileSync(PAGE, 'utf8').split(HEADING)[0];
  const page = `${introduction}${HEADING}${helpOf(program, '')}`;
  await expect(page).toMatchFileSnapshot('../../../docs/command-line.md');
});

/** The help of a command and of those below it; of a command that only has others, only theirs. */
function helpOf(command: Command, above: string): string {
  const name = `${above} ${command.name()}`.trim();
  let help = '';
  command.configureOutput({ writeOut: (text) => (help += text) }).outputHelp();
  const own = `\n### \`${name}\`\n\n\`\`\`console\n$ ${name} --help\n${help.trimEnd()}\n\`\`\`\n`;
  const isGroup = above !== '' && command.commands.length > 0;
  return (isGroup ? '' : own) + command.commands.map((one) => helpOf(one, name)).join('');
}
