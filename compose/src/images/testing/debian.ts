import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { outcomeOf, run } from './run.js';

const SUITE = 'bookworm';
export const BASE_IMAGE = 'docker.io/library/debian:bookworm-slim';
const SOURCES = '/etc/apt/sources.list.d';
const LOCAL_CERTIFICATES = '/usr/local/share/ca-certificates';
/** Folders that Debian's slim image leaves out. */
const NOT_IN_SLIM =
  'usr/share/doc usr/share/man usr/share/info usr/share/locale var/cache/apt var/lib/apt/lists';

/** The package mirror of this machine's apt. */
function mirror(): string {
  const files = existsSync(SOURCES) ? readdirSync(SOURCES).map((name) => join(SOURCES, name)) : [];
  for (const file of ['/etc/apt/sources.list', ...files].filter((one) => existsSync(one))) {
    const text = readFileSync(file, 'utf8');
    const found = /^(?:URIs:|deb(?: \[.*?\])?) *(https?:\/\/\S+\/debian)\/?(?:\s|$)/m.exec(text);
    if (found) return found[1];
  }
  throw new Error(
    'no Debian mirror is found in /etc/apt: what is debootstrap to take packages from?',
  );
}

/** Makes the base image of the Dockerfile, as slim as Debian's own, unless the engine has it already. */
export async function makeBaseImage(cache: string, env: NodeJS.ProcessEnv): Promise<void> {
  const have = await outcomeOf('docker', ['image', 'inspect', BASE_IMAGE], { env });
  if (have.status === 0) return;
  const root = join(cache, 'debian');
  rmSync(root, { recursive: true, force: true });
  await run('debootstrap', ['--variant=minbase', SUITE, root, mirror()]);
  const script = `
    rm -rf ${NOT_IN_SLIM} var/log/*.log
    mkdir -p usr/local/share etc/apt var/lib/apt/lists/partial var/cache/apt/archives/partial
    # The mirror for packages, and certificates that this machine trusts in addition.
    cp -r ${LOCAL_CERTIFICATES} usr/local/share/ 2>/dev/null || true
    printf 'deb %s ${SUITE} main\\n' "$1" >etc/apt/sources.list
    tar -c . | docker import - ${BASE_IMAGE}`;
  await run('sh', ['-ec', script, 'sh', mirror()], { cwd: root, env });
  rmSync(root, { recursive: true, force: true });
}

/** Installs `docker compose` if it is missing. The plugin of Debian 13 runs on other releases too. */
export async function makeComposePlugin(cache: string, env: NodeJS.ProcessEnv): Promise<void> {
  if ((await outcomeOf('docker', ['compose', 'version'], { env })).status === 0) return;
  const apt = join(cache, 'apt');
  for (const folder of ['lists/partial', 'archives/partial', 'sources']) {
    mkdirSync(join(apt, folder), { recursive: true });
  }
  const signed = '[signed-by=/usr/share/keyrings/debian-archive-keyring.gpg]';
  writeFileSync(join(apt, 'sources/trixie.list'), `deb ${signed} ${mirror()} trixie main\n`);
  const options = [
    'Dir::Etc::sourcelist=/dev/null',
    `Dir::Etc::sourceparts=${join(apt, 'sources')}`,
    `Dir::State::lists=${join(apt, 'lists')}`,
    `Dir::Cache=${apt}`,
    'APT::Sandbox::User=root',
  ].flatMap((option) => ['-o', option]);
  await run('apt-get', [...options, 'update']);
  await run('apt-get', [...options, 'download', 'docker-compose'], { cwd: apt });
  const plugins = join(String(env['DOCKER_CONFIG']), 'cli-plugins');
  mkdirSync(plugins, { recursive: true });
  const script = `dpkg -x docker-compose_*.deb plugin && cp plugin/usr/libexec/docker/cli-plugins/docker-compose "$1"`;
  await run('sh', ['-ec', script, 'sh', plugins], { cwd: apt });
  rmSync(apt, { recursive: true });
}
