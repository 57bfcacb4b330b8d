/** Code blocks of a language in a Markdown text, those in lists too. */
export function codeBlocks(language: string, text: string): string[] {
  const blocks = text.matchAll(new RegExp(`^( *)\`\`\`${language}\\n([\\s\\S]*?)^ *\`\`\`$`, 'gm'));
  return [...blocks].map(([, indent, code]) => code.replaceAll(new RegExp(`^${indent}`, 'gm'), ''));
}

/** Commands of a program that a Markdown text shows, in blocks and in sentences, each on one line. */
export function commandsOf(program: string, text: string): string[] {
  const sentences = text.replaceAll(/^( *)```[\s\S]*?^ *```$/gm, '');
  const inline = [...sentences.matchAll(/`([^`]+)`/g)].map(([, code]) =>
    code.replaceAll(/\s+/g, ' '),
  );
  const lines = codeBlocks('sh', text)
    .flatMap((block) => block.replaceAll(/\\\n\s*/g, '').split('\n'))
    .map((line) => line.replace(/ # .*$/, ''));
  return [...lines, ...inline]
    .flatMap((line) => line.split(/&&|\|/))
    .map((command) =>
      command
        .replace(/^\w+=\$\(/, '')
        .replace(/[)&\s]*$/, '')
        .trim(),
    )
    .filter((command) => command.startsWith(`${program} `));
}
