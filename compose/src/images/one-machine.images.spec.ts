import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { docker, tryDocker } from './testing/docker.js';
import { run } from './testing/run.js';

const repository = fileURLToPath(new URL('../../..', import.meta.url));
const PAGE = 'docs/operations/one-machine.md';
const page = readFileSync(join(repository, PAGE), 'utf8');
/** Of RFC 5737: nothing answers there. */
const UPSTREAM = '192.0.2.53';
/** One for each resolver: both have port 53. */
const DNS_HOSTS = ['127.0.0.1', '127.0.0.2'];
/** Packages are downloaded and the repository is compiled, on a machine that may be busy. */
const INSTALL_MS = 1_200_000;

/** A machine with systemd. What is asked of it runs as root, as the page says. */
class Machine {
  private constructor(private readonly id: string) {}

  static async boot(): Promise<Machine> {
    const cgroups = ['--cgroupns=host', '--volume=/sys/fs/cgroup:/sys/fs/cgroup'];
    const temporary = ['--tmpfs=/run', '--tmpfs=/run/lock', '--tmpfs=/tmp:exec'];
    const rights = ['--cap-add=SYS_ADMIN', '--security-opt=seccomp=unconfined'];
    const options = ['--detach', ...rights, ...cgroups, ...temporary];
    return new Machine(await docker('run', ...options, 'weir-test/machine'));
  }

  /** @throws with all that was written when a command fails. */
  shell(script: string): Promise<string> {
    return docker('exec', this.id, 'bash', '-euo', 'pipefail', '-c', script);
  }

  /** What a command writes; nothing when it fails. */
  ask(script: string): Promise<string> {
    return this.shell(script).catch(() => '');
  }

  /** The repository with what is not committed yet, as one that can be cloned and pulled from. */
  async copyRepository(): Promise<void> {
    const folder = mkdtempSync(join(tmpdir(), 'weir-machine-'));
    const script = `git ls-files -z --cached --others --exclude-standard |
      tar --create --null --files-from=- --ignore-failed-read | tar --extract --directory="$1"
      cd "$1" && git init --quiet && git add --all
      git -c user.name=test -c user.email=test@example.com commit --quiet --message=test`;
    await run('sh', ['-c', script, 'sh', folder], { cwd: repository });
    await docker('cp', `${folder}/.`, `${this.id}:/srv/weir`);
    rmSync(folder, { recursive: true });
    await this.shell('git clone --quiet /srv/weir /opt/weir');
  }

  async remove(): Promise<void> {
    await tryDocker('rm', '--force', '--volumes', this.id);
  }
}

/** The `sh` blocks of the page: between them the reader has to act in words. */
function commandBlocks(): string[] {
  return [...page.matchAll(/^```sh\n([\s\S]*?)^```$/gm)].map(([, commands]) => commands);
}

describe(PAGE, () => {
  const [install, setUp, begin, monitor, upgrade] = commandBlocks();
  let machine: Machine;

  beforeAll(async () => {
    machine = await Machine.boot();
  });
  afterAll(() => machine.remove());

  it(
    'makes Weir a service with the commands that it shows',
    async () => {
      expect(commandBlocks()).toHaveLength(5);
      const state = () => machine.ask('systemctl is-system-running || true');
      await expect.poll(state).toMatch(/running|degraded/);
      await machine.shell(install);
      await machine.copyRepository();
      await machine.shell(setUp);
      const settings = [`UPSTREAMS=${UPSTREAM}`, `DNS_HOST=${DNS_HOSTS.join(';')}`];
      await machine.shell(`printf '%s\\n' '${settings.join(`' '`)}' >>/etc/weir/weir.env`);
      expect(await machine.shell(begin)).toContain('active (running)');
    },
    INSTALL_MS,
  );

  it('shows how it is with the commands that it shows', async () => {
    const ready = () => machine.ask('curl -f http://127.0.0.1:9120/readyz');
    await expect.poll(ready, { timeout: 250_000 }).toContain('ok');
    const seen = await machine.shell(monitor);
    expect(seen).toContain('weir_stack_process_up{process="resolver-0"} 1');
    expect(seen).toMatch(/systemd\[1\]: Started weir\.service/);
  });

  it('runs every process as the user of the service, with one capability', async () => {
    const statuses = await machine.shell(
      `cat $(pgrep --uid weir | sed 's,.*,/proc/&/status,') | grep -E '^(CapBnd|NoNewPrivs):'`,
    );
    const lines = [...new Set(statuses.replaceAll(/\s+/g, ' ').split(/ (?=CapBnd|NoNewPrivs)/))];
    expect(lines.sort()).toEqual(['CapBnd: 0000000000000400', 'NoNewPrivs: 1']);
    const users = await machine.ask(`ps -o user= -p $(pgrep --full '[a]pps/resolver')`);
    expect(new Set(users.split('\n'))).toEqual(new Set(['weir']));
  });

  it('has changes in force on port 53 when their calls return', async () => {
    const call = (path: string, body: string) =>
      machine.shell(`
        token=$(node -p 'JSON.parse(fs.readFileSync("/var/lib/weir/secrets.json")).managementTokens[0]')
        curl --silent --fail --oauth2-bearer "$token" --header 'Content-Type: application/json' \\
          --output /dev/null --write-out '%header{x-config-applied}' \\
          http://127.0.0.1:8080${path} --data '${body}'`);
    expect(await call('/profiles/', '{"profile":{"id":1}}')).toBe('2/2');
    expect(await call('/net/', '{"ip":"127.0.0.1","profile_id":1}')).toBe('2/2');
    expect(await call('/profile/1/bw_list', '{"type":"deny","domain":"example.com"}')).toBe('2/2');
    for (const host of DNS_HOSTS) expect(await blocked(host)).toBe('127.0.0.1');
  });

  it('brings a process back that was killed', async () => {
    await machine.shell('pkill --signal KILL --full apps/resolver');
    for (const host of DNS_HOSTS) await expect.poll(() => blocked(host)).toBe('127.0.0.1');
  });

  it('keeps everything through an upgrade with the commands that it shows', async () => {
    await machine.shell(upgrade);
    for (const host of DNS_HOSTS) await expect.poll(() => blocked(host)).toBe('127.0.0.1');
    expect(await machine.shell('systemctl is-active weir')).toBe('active');
  });

  it('stops in order and leaves nothing running', async () => {
    await machine.shell('systemctl stop weir');
    expect(await machine.ask('systemctl show weir --property=Result --value')).toBe('success');
    expect(await machine.ask('pgrep --uid weir')).toBe('');
  });

  const blocked = (host: string) =>
    machine.ask(`dig @${host} +short +tries=1 +time=2 www.example.com`);
});
