/** A command line with a comment that shows a part of its output. */
const EXPECTING = /^(\S.*?) {2,}# (.+)$/;

/**
 * Makes one bash script from all `sh` blocks of a Markdown page. If two spaces and a comment follow a command, the
 * output of the command must contain the comment. A comment that begins with "the" is prose and is ignored.
 */
export function scriptOf(page: string): string {
  const blocks = [...page.matchAll(/^```sh\n([\s\S]*?)^```$/gm)].map(([, block]) => block);
  if (blocks.length === 0) throw new Error('the page has no commands');
  const lines = blocks.join('\n').split('\n').map(expecting);
  return `${EXPECT}\n${lines.join('\n')}`;
}

const EXPECT = `
expect() {
  local expected=$1 output
  output=$(cat)
  printf '%s\\n' "$output"
  [[ $output == *"$expected"* ]] || { echo "this does not contain: $expected" >&2; return 1; }
}`;

function expecting(line: string): string {
  const [, command, comment] = EXPECTING.exec(line) ?? [];
  if (command === undefined || comment === undefined || comment.startsWith('the ')) return line;
  return `${command} | expect '${comment}'`;
}
