import type { Command } from 'commander';

/** A word of a command line, with what it is for. */
type Word = readonly [word: string, description: string];
/** What may follow the words of a path, such as `catalogue check`. */
type Follows = readonly [path: string, words: readonly Word[]];

/** The script that completes command lines in a shell, made from the commands themselves. */
export function completion(program: Command, shell: 'bash' | 'zsh'): string {
  // Where a path is there twice, its first entry counts.
  const all = [...namesOf(program, 'help'), ...commandsOf(program, '')];
  const paths = all.filter(([path]) => path !== '').map(([path]) => `'${path}'`);
  // The command of the line so far: `catalogue check`.
  const find = (words: string) => `  for word in ${words}; do
    case "\${command:+$command }$word" in
      ${paths.join(' | ')}) command="\${command:+$command }$word" ;;
    esac
  done`;
  const choose = (last: string, render: (words: readonly Word[]) => string) => {
    const casesOf = (which: readonly Follows[]) =>
      which.map(([path, words]) => `    '${path}') ${render(words)} ;;`).join('\n');
    return `  case $command in
${casesOf(all)}
  esac
  case "$command ${last}" in
${casesOf(valuesOf(program, ''))}
  esac`;
  };
  if (shell === 'bash') {
    return `_weir() {
  local command= word words=
${find('"${COMP_WORDS[@]:1:COMP_CWORD-1}"')}
${choose('${COMP_WORDS[COMP_CWORD-1]}', (words) => `words='${words.map(([word]) => word).join(' ')}'`)}
  COMPREPLY=($(compgen -W "$words" -- "\${COMP_WORDS[COMP_CWORD]}"))
}
complete -o default -F _weir weir`;
  }
  const quoted = ([word, description]: Word) =>
    `'${word}${description === '' ? '' : `:${description.replaceAll("'", "'\\\\''")}`}'`;
  return `#compdef weir
_weir() {
  local command= word
  local -a found
${find('${words[2,CURRENT-1]}')}
${choose('${words[CURRENT-1]}', (words) => `found=(${words.map(quoted).join(' ')})`)}
  _describe weir found || _files
}
compdef _weir weir`;
}

/** Names of commands after `help`. */
function namesOf(command: Command, path: string): Follows[] {
  const words = command.commands.map((one): Word => [one.name(), one.description()]);
  return [[path, words], ...belowOf(command, path, namesOf)];
}

/** Values of options that have choices, by the paths of commands with these options. */
function valuesOf(command: Command, path: string): Follows[] {
  const own = command.options.flatMap(({ long, argChoices }): Follows[] =>
    argChoices === undefined
      ? []
      : [[`${path} ${long}`, argChoices.map((choice): Word => [choice, ''])]],
  );
  return [...own, ...belowOf(command, path, valuesOf)];
}

/** Each command, with what may follow. */
function commandsOf(command: Command, path: string): Follows[] {
  const help = command.createHelp();
  const words: Word[] = [
    ...help.visibleCommands(command).map((one): Word => [one.name(), one.description()]),
    ...command.registeredArguments.flatMap(({ argChoices = [] }) =>
      argChoices.map((choice): Word => [choice, '']),
    ),
    ...help.visibleOptions(command).map(({ long = '', description }): Word => [long, description]),
  ];
  return [[path, words], ...belowOf(command, path, commandsOf)];
}

function belowOf(
  command: Command,
  path: string,
  find: (command: Command, path: string) => Follows[],
): Follows[] {
  return command.commands.flatMap((one) => find(one, `${path} ${one.name()}`.trim()));
}
