/** Command lines of a page whose last comment tells a part of their output, and those without. */
const EXPECTING = /^(\S.*?) {2,}# (.+)$/;

/**
 * Makes one bash script of all `sh` blocks of a Markdown page. A line with a comment behind two spaces must write what
 * the comment says, unless that is prose (it begins with "the").
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
