// `npm run lines`: how large the source is, by folder.
import { spawnSync } from 'node:child_process';
import { parseArgs } from 'node:util';

const HELP = `npm run lines -- [--depth 2] [commits]

Counts lines and files by folder: of the commits that are named, then of the working tree. Counted are the files that
git tracks and that end in .ts, .tsx, .mts, .js, .mjs or .cjs, comments and blank lines included, but no tests: no
*.spec.ts, and nothing in a folder "testing".
depth: of the folders that have a row of their own
`;
const FILES = [
  '*.ts',
  '*.tsx',
  '*.mts',
  '*.js',
  '*.mjs',
  '*.cjs',
  ':!*.spec.ts',
  ':!**/testing/**',
];

/** Sums of lines and files by folder: of a commit, or of the working tree if it is ''. */
function count(depth, commit) {
  const { status, stdout, stderr } = spawnSync(
    'git',
    ['grep', '--count', '-z', '', ...(commit ? [commit] : []), '--', ...FILES],
    { encoding: 'utf8', maxBuffer: 2 ** 26 },
  );
  if (status !== 0) throw new Error(stderr.trim());
  const sums = new Map();
  for (const row of stdout.trimEnd().split('\n')) {
    const [path, lines] = row.split('\0');
    const folders = path.replace(`${commit}:`, '').split('/').slice(0, -1);
    const rows = ['all', folders.slice(0, 1).join('/'), folders.slice(0, depth).join('/')];
    for (const folder of new Set(rows.map((name) => name || '.'))) {
      const sum = sums.get(folder) ?? { lines: 0, files: 0 };
      sums.set(folder, { lines: sum.lines + Number(lines), files: sum.files + 1 });
    }
  }
  return sums;
}

function table(counts, titles) {
  const folders = [...new Set(counts.flatMap((sums) => [...sums.keys()]))].sort();
  const none = { lines: 0, files: 0 };
  const rows = folders.map((folder) => [folder, ...counts.map((sums) => sums.get(folder) ?? none)]);
  const cells = (...values) => values.map((value) => String(value).padStart(10)).join('');
  const head = titles.map((title) => cells(title, 'files')).join('');
  const body = rows.map(
    ([folder, ...sums]) =>
      folder.padEnd(30) + sums.map(({ lines, files }) => cells(lines, files)).join(''),
  );
  return [`${'folder'.padEnd(30)}${head}`, ...body, ''].join('\n');
}

try {
  const options = {
    depth: { type: 'string', default: '2' },
    help: { type: 'boolean', short: 'h' },
  };
  const { values, positionals } = parseArgs({ options, allowPositionals: true });
  if (values.help) process.stdout.write(HELP);
  else {
    const counts = [...positionals, ''].map((commit) => count(Number(values.depth), commit));
    process.stdout.write(table(counts, [...positionals, 'lines']));
  }
} catch (error) {
  process.stderr.write(`lines: ${error.message}\n`);
  process.exitCode = 1;
}
