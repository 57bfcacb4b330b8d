import { needs } from '@weir/ops/testing';
import { execFileSync } from 'node:child_process';
import { stripVTControlCharacters } from 'node:util';
import { describe, expect, it } from 'vitest';
import { runWeir } from '../testing/run-weir.js';

const scriptOf = async (shell: string) => (await runWeir(['completion', shell])).out.join('\n');

/** What a shell offers for the line, whose last word is being written. */
async function offeredByBash(line: string): Promise<string[]> {
  const words = line.split(' ');
  const script = `${await scriptOf('bash')}
    COMP_WORDS=("$@"); COMP_CWORD=$(($# - 1)); _weir; printf '%s\\n' "\${COMPREPLY[@]}"`;
  const output = execFileSync('bash', ['--norc', '-c', script, 'bash', ...words], {
    encoding: 'utf8',
  });
  return output.split('\n').filter(Boolean);
}

/** Presses Tab in a zsh with a terminal, and reads the list that it shows. */
async function offeredByZsh(line: string): Promise<string[]> {
  const script = `zmodload zsh/zpty
zpty shell zsh -f -i
zpty -w shell 'PS1= RPS1= ; unsetopt zle_bracketed_paste; autoload -Uz compinit; compinit -u -D; LISTMAX=0'
zpty -w shell "$1"
zpty -w shell 'zstyle ":completion:*" list-separator "|"; bindkey "^I" list-choices; stty columns 300; print -r READY'
zpty -r shell seen '*READY*READY*'
zpty -w -n shell "$2"$'\\t'
zpty -w -n shell $'\\x15print -r DONE\\n'
zpty -r shell seen '*DONE'$'\\r\\n''*'
print -r -- "$seen"
zpty -d shell`;
  const args = ['-f', '-c', script, 'zsh', await scriptOf('zsh'), line];
  const shown = stripVTControlCharacters(execFileSync('zsh', args, { encoding: 'utf8' }));
  return Array.from(
    shown.matchAll(/^(\S+) +\| (.*?) *\r/gm),
    ([, word, what]) => `${word}: ${what}`,
  );
}

describe('weir completion', () => {
  it.each([
    ['weir re', ['resolvers', 'restore', 'repair']],
    [
      'weir catalogue ',
      [
        'sources',
        'search',
        'check',
        'show',
        'sets',
        'enable',
        'disable',
        'build',
        'diff',
        'accept',
        'help',
        '--help',
      ],
    ],
    ['weir catalogue check --c', ['--catalogue']],
    ['weir token create billing wr', ['write']],
    ['weir completion ', ['bash', 'zsh', '--help']],
    ['weir init --dry', ['--dry-run']],
    ['weir help re', ['resolvers', 'restore', 'repair']],
    ['weir help grants ', ['list', 'add', 'delete']],
    ['weir grants help de', ['delete']],
    ['weir orders list --state ', ['in_force', 'pending', 'ended']],
    ['weir orders list --state ended --s', ['--search', '--state']],
  ])('offers in bash what may follow %j', async (line, words) => {
    expect(await offeredByBash(line)).toEqual(words);
  });

  it('offers in zsh what may follow, and says what it is for', needs('zsh'), async () => {
    expect((await offeredByZsh('weir re')).toSorted()).toEqual([
      'repair: mend what the database says about itself',
      'resolvers: which resolvers there are, how far each is behind, and what it does',
      'restore: replace the contents of the database by a backup',
    ]);
    expect(await offeredByZsh('weir restore file --')).toContain('--help: print this text');
    expect(await offeredByZsh('weir help to')).toEqual(['token: tokens of the management API']);
  });

  it('refuses other shells', async () => {
    expect((await runWeir(['completion', 'fish'])).code).toBe(2);
  });
});
