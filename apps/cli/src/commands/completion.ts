import type { Command } from 'commander';

/** A word of a command line, with what it is for. */
type Word = readonly [word: string, description: string];

/** The script that completes command lines in a shell, made from the commands themselves. */
export function completion(program: Command, shell: 'bash' | 'zsh'): string {
  const all = commandsOf(program, '');
  const paths = all.map(([path]) => `'${path}'`).slice(1);
  // The command of the line so far: `catalogue check`.
  const find = (words: string) => `  for word in ${words}; do
    case "\${command:+$command }$word" in
      ${paths.join(' | ')}) command="\${command:+$command }$word" ;;
    esac
  done`;
  const choose = (render: (words: readonly Word[]) => string) =>
    all.map(([path, words]) => `    '${path}') ${render(words)} ;;`).join('\n');
  if (shell === 'bash') {
    return `_weir() {
  local command= word words=
${find('"${COMP_WORDS[@]:1:COMP_CWORD-1}"')}
  case $command in
${choose((words) => `words='${words.map(([word]) => word).join(' ')}'`)}
  esac
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
  case $command in
${choose((words) => `found=(${words.map(quoted).join(' ')})`)}
  esac
  _describe weir found || _files
}
compdef _weir weir`;
}

/** Each command by its path, such as `catalogue check`, with what may follow. */
function commandsOf(command: Command, path: string): [path: string, words: Word[]][] {
  const help = command.createHelp();
  const words: Word[] = [
    ...help.visibleCommands(command).map((one): Word => [one.name(), one.description()]),
    ...command.registeredArguments.flatMap(({ argChoices = [] }) =>
      argChoices.map((choice): Word => [choice, '']),
    ),
    ...help.visibleOptions(command).map(({ long = '', description }): Word => [long, description]),
  ];
  const below = command.commands.flatMap((one) => commandsOf(one, `${path} ${one.name()}`.trim()));
  return [[path, words], ...below];
}
