import { needs } from '@weir/ops/testing';
import { spawnSync } from 'node:child_process';
import {
  accessSync,
  constants,
  cpSync,
  existsSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';

const root = fileURLToPath(new URL('../../..', import.meta.url));
const folder = join(root, 'tools/systemd');
const read = (name: string) => readFileSync(join(folder, name), 'utf8');
const unit = read('weir.service');

/** Where docs/operations/one-machine.md installs the repository. */
const INSTALLED = '/opt/weir';
/** Of `systemd-analyze security`: from 0, nothing is permitted that is known of, to 10. */
const MOST_EXPOSURE = 2;

const values = (name: string) =>
  Array.from(unit.matchAll(new RegExp(`^${name}=(.*)$`, 'gm')), ([, value]) => value);

describe('the systemd unit', () => {
  let work: string;
  beforeAll(() => {
    work = mkdtempSync(join(tmpdir(), 'weir-unit-'));
  });
  afterAll(() => {
    rmSync(work, { recursive: true });
  });

  it('names only files that exist in the repository', () => {
    const [command] = values('ExecStart');
    const [node, script] = command.replaceAll(INSTALLED, root).split(' ');
    accessSync(node, constants.X_OK);
    expect(existsSync(join(root, script.replace('/dist/', '/src/').replace(/js$/, 'ts')))).toBe(
      true,
    );
    expect(values('WorkingDirectory')).toEqual([INSTALLED]);
    const scripts = [...read('weir').matchAll(/\/opt\/\S+/g)].map(([path]) => path);
    expect(scripts).toHaveLength(2);
    for (const path of scripts) accessSync(path.replace(INSTALLED, root), constants.X_OK);
    const [documentation] = values('Documentation');
    expect(existsSync(documentation.replace(`file://${INSTALLED}`, root))).toBe(true);
  });

  it('is replaced by an upgrade, as are the files that are installed with it', () => {
    const page = readFileSync(join(root, 'docs/operations/one-machine.md'), 'utf8');
    const [before, upgrade] = page.split('\n## Upgrade\n');
    const installed = Array.from(before.matchAll(/^install -m .*$/gm), ([command]) => command);
    expect(installed).toHaveLength(3);
    for (const command of installed) expect(upgrade.split('\n')).toContain(command);
  });

  it('lets the other processes go on when the kernel ends one for its memory', () => {
    expect(values('OOMPolicy')).toEqual(['continue']);
  });

  it('keeps the data where the service may write', () => {
    const [dataDir] = values('Environment');
    expect(dataDir).toBe(`DATA_DIR=/var/lib/${values('StateDirectory')[0]}`);
    expect(read('weir.logrotate')).toContain('/var/lib/weir/logs/*.log {');
    expect(read('weir')).toContain(`export ${dataDir}\n`);
  });

  it('sets only variables that exist', () => {
    const references = join(root, 'docs/configuration');
    const pages = readdirSync(references).map((page) =>
      readFileSync(join(references, page), 'utf8'),
    );
    const named = Array.from(
      read('weir.env').matchAll(/^#?([A-Z][A-Z0-9_]+)=/gm),
      ([, name]) => name,
    );
    expect(named.length).toBeGreaterThan(5);
    const unknown = [...named, 'DATA_DIR'].filter(
      (name) => !pages.some((page) => page.includes(`| \`${name}\` |`)),
    );
    expect(unknown).toEqual([]);
    expect(values('EnvironmentFile')).toEqual(['/etc/weir/weir.env']);
    expect(read('weir.env').split('\n')[0]).toContain('/etc/weir/weir.env');
  });

  it('drops all capabilities except the one for low ports', () => {
    expect(values('CapabilityBoundingSet')).toEqual(['CAP_NET_BIND_SERVICE']);
    expect(values('AmbientCapabilities')).toEqual(['CAP_NET_BIND_SERVICE']);
    expect(values('NoNewPrivileges')).toEqual(['yes']);
    expect(values('ProtectSystem')).toEqual(['strict']);
  });

  it('is one that systemd reads without a word', needs('systemd-analyze'), () => {
    const file = join(work, 'weir.service');
    writeFileSync(file, unit.replaceAll(INSTALLED, root.replace(/\/$/, '')));
    const { stdout, stderr, status } = spawnSync('systemd-analyze', ['verify', '--man=no', file], {
      encoding: 'utf8',
    });
    expect([stdout, stderr, status]).toEqual(['', '', 0]);
  });

  it('is rated as little exposed by systemd-analyze', needs('systemd-analyze'), () => {
    const file = join(work, 'weir.service');
    writeFileSync(file, unit);
    const threshold = `--threshold=${MOST_EXPOSURE * 10}`;
    const { stdout, status } = spawnSync(
      'systemd-analyze',
      ['security', '--offline=true', '--no-pager', threshold, file],
      { encoding: 'utf8' },
    );
    expect([status, stdout.split('\n').filter((line) => line.includes('Overall'))]).toEqual([
      0,
      [expect.stringContaining('Overall exposure level for weir.service')],
    ]);
  });

  it('has its logs rotated by a file that logrotate reads', needs('logrotate'), () => {
    const file = join(work, 'weir.logrotate');
    cpSync(join(folder, 'weir.logrotate'), file);
    const user = process.getuid?.() === 0 ? 'root' : String(process.env['USER']);
    writeFileSync(file, read('weir.logrotate').replace('su weir weir', `su ${user} ${user}`));
    const { stderr, status } = spawnSync('logrotate', ['--debug', file], { encoding: 'utf8' });
    expect([stderr.match(/error.*/g), status]).toEqual([null, 0]);
  });
});
