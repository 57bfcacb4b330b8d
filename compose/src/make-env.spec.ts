import { spawnSync } from 'node:child_process';
import {
  cpSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';

const repository = fileURLToPath(new URL('../..', import.meta.url));

describe('make-env.sh', () => {
  let folder: string;
  const run = () => spawnSync('sh', ['compose/make-env.sh'], { cwd: folder, encoding: 'utf8' });
  const lines = (file: string) => readFileSync(join(folder, file), 'utf8').split('\n');

  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), 'weir-make-env-'));
    mkdirSync(join(folder, 'compose'));
    for (const file of ['.env.example', 'compose/make-env.sh']) {
      cpSync(join(repository, file), join(folder, file));
    }
  });
  afterEach(() => {
    rmSync(folder, { recursive: true });
  });

  it('gives every secret a new value, turns BLOCK_REBINDING on, and changes nothing else', () => {
    expect(run().status).toBe(0);
    const made = lines('.env');
    const rebinding = lines('.env.example').indexOf('#BLOCK_REBINDING=false');
    expect(made[rebinding]).toBe('BLOCK_REBINDING=true');
    made[rebinding] = '#BLOCK_REBINDING=false';
    const secrets = lines('.env.example').flatMap((line, index) => {
      if (!/^[A-Z_]+=$/.test(line)) {
        expect(made[index]).toBe(line);
        return [];
      }
      expect(made[index]).toMatch(new RegExp(`^${line}[0-9a-f]{32}$`));
      return [made[index].slice(line.length)];
    });
    expect(new Set(secrets).size).toBe(secrets.length);
  });

  it('makes every secret that the chart makes', () => {
    run();
    const chart = readFileSync(join(repository, 'k8s/weir/templates/_secret.tpl'), 'utf8');
    const generated = Array.from(chart.matchAll(/^ +"([A-Z_]+)" \(rand/gm), ([, name]) => name);
    const made = new Map(lines('.env').map((line) => line.split('=', 2) as [string, string]));
    expect(generated.length).toBeGreaterThanOrEqual(5);
    for (const name of generated) expect(made.get(name), name).toMatch(/^[0-9a-f]{32}$/);
  });

  it('makes .env readable only for its owner, and leaves no other file behind', () => {
    run();
    expect(statSync(join(folder, '.env')).mode & 0o777).toBe(0o600);
    expect(readdirSync(folder).sort()).toEqual(['.env', '.env.example', 'compose']);
  });

  it('fails and does not change .env when .env exists', () => {
    run();
    const before = lines('.env');
    const again = run();
    expect(again.status).toBe(1);
    expect(again.stderr).toContain('.env exists already');
    expect(lines('.env')).toEqual(before);
  });
});
