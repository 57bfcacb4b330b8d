import type { Command } from 'commander';
import { readFileSync } from 'node:fs';
import { expect, it } from 'vitest';
import { createProgram } from './program.js';
import { Terminal } from './terminal.js';

const PAGE = new URL('../../../docs/command-line.md', import.meta.url);
const HEADING = '\n## Commands\n';

it('docs/command-line.md has the help of every command', async () => {
  const nothing = { write: () => true };
  const program = createProgram({
    environment: {},
    terminal: new Terminal(nothing, nothing),
    input: (async function* () {})(),
    interrupted: () => new AbortController().signal,
  });
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
