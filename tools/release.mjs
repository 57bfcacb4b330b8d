// `npm run release` makes a release of the checked-out commit. It publishes nothing. docs/operations/releases.md
// explains it.
import { spawnSync } from 'node:child_process';
import {
  copyFileSync,
  mkdirSync,
  mkdtempDisposableSync,
  readFileSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { nameCommit, newestRelease, releaseChanges } from './dist/release/changelog.js';
import { helmProgram } from './dist/release/helm-program.js';
import { readVersion, writeVersion } from './dist/release/version-files.js';

const HELP = `Makes a release of the checked-out commit of main, and publishes nothing.

  npm run release -- [options] <version>

It writes the version and the date, commits, tags the commit v<version>, builds the images of it, packages the chart,
lists what the images contain (SBOM), and commits the hash of the tagged commit to CHANGELOG.md. When a step fails,
commit and tag are taken back.

  --dry-run     only check whether there can be a release
  --no-images   without the images: they need a container engine (docker)
  --output DIR  where chart and SBOMs are written; default: release
  --help        this text
`;
const TARGETS = ['control-plane', 'resolver', 'block-page', 'migrate'];
const OPTIONS = {
  'dry-run': { type: 'boolean', default: false },
  'no-images': { type: 'boolean', default: false },
  output: { type: 'string', default: 'release' },
  help: { type: 'boolean', default: false },
};

const root = fileURLToPath(new URL('..', import.meta.url));
const changelogFile = join(root, 'CHANGELOG.md');

const editChangelog = (edit) =>
  writeFileSync(changelogFile, edit(readFileSync(changelogFile, 'utf8')));

/** A reason for which there is no release, for the user. */
class Refusal extends Error {}

function run(command, args) {
  const { status, error, stdout } = spawnSync(command, args, {
    cwd: root,
    encoding: 'utf8',
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  if (error || status !== 0) {
    throw new Refusal(
      `"${[command, ...args].join(' ')}" failed${error ? `: ${error.message}` : ''}`,
    );
  }
  return stdout.trim();
}

const git = (...args) => run('git', args);
const commitAll = (message) => git('commit', '--quiet', '--all', '--message', message);
const print = (line) => process.stdout.write(`${line}\n`);

const isNewer = (version, than) => version.localeCompare(than, 'en', { numeric: true }) > 0;

/** @throws Refusal with every reason for which there cannot be a release */
function check(version, withImages) {
  const changelog = readFileSync(changelogFile, 'utf8');
  const newest = newestRelease(changelog);
  const reasons = [];
  const branch = git('rev-parse', '--abbrev-ref', 'HEAD');
  if (branch !== 'main') reasons.push(`a release is made on main, not on ${branch}`);
  if (git('status', '--porcelain') !== '') reasons.push('there are changes that are not committed');
  if (!/^(0|[1-9]\d*)(\.(0|[1-9]\d*)){2}$/.test(version)) {
    reasons.push(`"${version}" is not a version such as 0.1.0`);
  } else if (newest !== null && !isNewer(version, newest.version)) {
    reasons.push(`${version} is not newer than ${newest.version}`);
  }
  if (git('tag', '--list', `v${version}`) !== '') reasons.push(`the tag v${version} exists`);
  try {
    releaseChanges(changelog, version, '');
  } catch (error) {
    reasons.push(error.message);
  }
  if (withImages && spawnSync('docker', ['version'], { stdio: 'ignore' }).status !== 0) {
    reasons.push('no container engine answers (docker version): start one, or use --no-images');
  }
  if (reasons.length > 0) throw new Refusal(reasons.join('\n'));
}

function listContents(version, output) {
  for (const target of TARGETS) {
    using folder = mkdtempDisposableSync(join(tmpdir(), 'weir-release-'));
    run('node', ['compose/image-tree.mjs', target, folder.path]);
    const file = join(output, `weir-${target}-${version}.cdx.json`);
    copyFileSync(join(folder.path, 'sbom.cdx.json'), file);
    print(`SBOM: ${file}`);
  }
}

function buildImages(version, commit) {
  const env = { ...process.env, REVISION: commit, WEIR_VERSION: version };
  const { status } = spawnSync('compose/build-images.sh', [], { cwd: root, env, stdio: 'inherit' });
  if (status !== 0) throw new Refusal('the images cannot be built');
}

function release(version, { output, withImages }) {
  const before = git('rev-parse', 'HEAD');
  const tag = `v${version}`;
  try {
    writeVersion(root, version);
    const date = new Date().toISOString().slice(0, 10);
    editChangelog((text) => releaseChanges(text, version, date));
    commitAll(`Release ${version}`);
    const commit = git('rev-parse', 'HEAD');
    git('tag', '--annotate', tag, '--message', `Weir ${version}`);
    mkdirSync(output, { recursive: true });
    print(run(helmProgram(4), ['package', 'k8s/weir', '--destination', output]));
    listContents(version, output);
    if (withImages) buildImages(version, commit);
    editChangelog((text) => nameCommit(text, { version, commit }));
    commitAll(`changelog: ${version} is commit ${commit.slice(0, 8)}`);
    print(`\n${tag} is ${commit}. Nothing is published yet. To publish it:\n`);
    print(`  git push --atomic origin main ${tag}`);
  } catch (error) {
    git('reset', '--quiet', '--hard', before);
    if (git('tag', '--list', tag) !== '') git('tag', '--delete', tag);
    throw error;
  }
}

function readArguments() {
  try {
    const { values, positionals } = parseArgs({ options: OPTIONS, allowPositionals: true });
    if (!values.help && positionals.length !== 1) throw new Error('name one version');
    return { values, version: positionals[0] };
  } catch (error) {
    throw new Refusal(`${error.message} (see --help)`);
  }
}

try {
  const { values, version } = readArguments();
  if (values.help) print(HELP);
  else {
    const withImages = !values['no-images'];
    check(version, withImages);
    print(`${readVersion(root)} → ${version}, from ${git('rev-parse', 'HEAD')}`);
    if (!values['dry-run']) {
      release(version, { output: join(root, values.output), withImages });
      if (!withImages) {
        const prefix = `git checkout v${version} && IMAGE_PREFIX=registry.example.net/weir`;
        print('\nThe images are not built (--no-images). On a machine with an engine:\n');
        print(`  ${prefix} compose/build-images.sh`);
      }
    }
  }
} catch (error) {
  if (!(error instanceof Refusal)) throw error;
  process.stderr.write(`${error.message.replace(/^/gm, 'release: ')}\n`);
  process.exitCode = 1;
}
