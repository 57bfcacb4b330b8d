import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { parse } from 'yaml';
import {
  BUILD_ARGUMENTS,
  IMAGE_DEFAULTS,
  COMPOSE_SETTINGS,
  FIXED_VARIABLES,
  PASSWORDS,
  PROCESS_SCHEMAS,
} from './settings.js';

interface Service {
  readonly image: string;
  readonly user?: string;
  readonly restart: string;
  readonly read_only?: boolean;
  readonly cap_add?: unknown;
  readonly cap_drop?: readonly string[];
  readonly privileged?: unknown;
  readonly network_mode?: unknown;
  readonly security_opt?: readonly string[];
  readonly logging?: { readonly options: Readonly<Record<string, string>> };
  readonly environment?: Readonly<Record<string, string | null>>;
  readonly command?: readonly string[];
  readonly healthcheck?: unknown;
  readonly volumes?: readonly string[];
  readonly depends_on?: Readonly<Record<string, { readonly condition: string }>>;
}

const read = (path: string) => readFileSync(new URL(`../../${path}`, import.meta.url), 'utf8');
const file = read('docker-compose.yml');
const parsed = parse(file, { merge: true }) as {
  'x-build-args': readonly string[];
  services: Record<string, Service>;
  volumes: Record<string, unknown>;
};
const { services, volumes } = parsed;
const { version } = JSON.parse(read('package.json')) as { version: string };
/** `${NAME:-default}`, `${NAME:?message}` and `${NAME:+other}` of the whole file. */
const references = [...file.matchAll(/\$\{(\w+)(?:(:[-?+])([^}]*))?\}/g)].map(
  ([, name, operator, word]) => ({ name, operator, word }),
);
const secrets = [...Object.values(PROCESS_SCHEMAS), PASSWORDS]
  .flatMap((schema) => Object.entries(schema))
  .filter(([, { secret, default: value, absent }]) => secret && value === undefined && !absent)
  .map(([name]) => name)
  .filter((name) => !FIXED_VARIABLES.includes(name));

/** Passwords that are parts of URLs. */
const URLS: Readonly<Record<string, string>> = {
  POSTGRES_PASSWORD: 'OWNER_DATABASE_URL',
  POSTGRES_RUNTIME_PASSWORD: 'DATABASE_URL',
  REDIS_PASSWORD: 'REDIS_URL',
};

describe.each(Object.entries(services))('service %s', (name, service) => {
  it('has a read-only file system and no capabilities, and cannot gain privileges', () => {
    expect(service).toMatchObject({
      read_only: true,
      cap_drop: ['ALL'],
      security_opt: ['no-new-privileges:true'],
    });
    for (const field of ['cap_add', 'privileged', 'network_mode'] as const) {
      expect(service[field], field).toBeUndefined();
    }
  });

  it('does not run as root', () => {
    // Weir's own images set their user.
    if (!service.image.includes('${IMAGE_PREFIX'))
      expect(service.user).toMatch(/^[1-9]\d*(:\d+)?$/);
  });

  it('has an image with a version tag', () => {
    expect(service.image).toMatch(/:(\$\{WEIR_VERSION:-[\d.]+\}|v?\d[\w.-]*)$/);
  });

  it('restarts after a failure, and limits the size of its log', () => {
    expect(service.restart).toBe(name === 'migrate' ? 'no' : 'unless-stopped');
    expect(Object.keys(service.logging?.options ?? {})).toEqual(['max-size', 'max-file']);
  });

  it('keeps its data in named volumes, and mounts host folders read-only', () => {
    const sources = (service.volumes ?? []).map((one) => one.split(':', 1)[0]);
    const named = sources.filter((source) => !source.startsWith('./'));
    expect(Object.keys(volumes)).toEqual(expect.arrayContaining(named));
    for (const mount of service.volumes ?? []) {
      if (mount.startsWith('./')) expect(mount).toMatch(/:ro$/);
    }
  });
});

describe.each([
  ['control-plane', 'control-plane'],
  ['resolver-1', 'resolver'],
  ['resolver-2', 'resolver'],
  ['block-page', 'block-page'],
  ['migrate', 'migrate'],
])('environment of %s', (service, process) => {
  const environment = services[service].environment!;
  const schema = PROCESS_SCHEMAS[process];

  it('has every variable of the process', () => {
    const offered = Object.keys(schema).filter((name) => !FIXED_VARIABLES.includes(name));
    expect(Object.keys(environment)).toEqual(expect.arrayContaining(offered));
  });

  it('gives a value to each variable that has a default in the image', () => {
    // A name without a value would unset the default.
    for (const name of Object.keys(IMAGE_DEFAULTS)) expect(environment[name]).not.toBeNull();
  });

  it('has only variables of the process', () => {
    expect(Object.keys(schema)).toEqual(expect.arrayContaining(Object.keys(environment)));
  });

  it('has only the secrets that the process needs', () => {
    const given = Object.entries(environment);
    for (const secret of secrets.filter((name) => !(name in schema))) {
      const users = given.filter(([, value]) => value?.includes(secret)).map(([name]) => name);
      const url = URLS[secret];
      expect(users, secret).toEqual(url !== undefined && url in schema ? [url] : []);
    }
  });
});

it.each(['control-plane', 'resolver-1', 'resolver-2', 'block-page'])(
  '%s is healthy when it is ready',
  (service) => {
    const test = ['CMD', 'node', 'libs/ops/dist/call/main.js', '/readyz'];
    expect(services[service].healthcheck).toMatchObject({ test });
  },
);

describe('docker-compose.yml', () => {
  it('requires every secret, and has no default for a secret', () => {
    expect(secrets.length).toBeGreaterThanOrEqual(6);
    for (const name of secrets) {
      const operators = references.filter((one) => one.name === name).map((one) => one.operator);
      expect(operators.length, name).toBeGreaterThan(0);
      expect(new Set(operators), name).toEqual(new Set([':?']));
    }
  });

  it('has the defaults that .env.example shows', () => {
    const defaults = new Map(Object.entries({ ...IMAGE_DEFAULTS, WEIR_VERSION: version }));
    for (const [name, one] of Object.entries(COMPOSE_SETTINGS))
      defaults.set(name, String(one.default));
    for (const { name, operator, word } of references) {
      if (operator !== ':-' || word === '') continue;
      expect([name, word]).toEqual([name, defaults.get(name)]);
    }
  });

  it('reads only settings that .env.example has', () => {
    const named = [...read('.env.example').matchAll(/^#?([A-Z]\w*)=/gm)].map(([, name]) => name);
    for (const { name } of references) expect(named).toContain(name);
  });

  it('builds with the arguments that .env.example lists', () => {
    expect(parsed['x-build-args']).toEqual(Object.keys(BUILD_ARGUMENTS));
  });

  it('asks for passwords that are parts of URLs as they are', () => {
    for (const name of Object.keys(URLS))
      expect(PASSWORDS[name].allowed).toBe('at least 16 letters and digits');
  });

  it('has no secret on a command line', () => {
    for (const { command = [], healthcheck } of Object.values(services)) {
      const text = JSON.stringify([command, healthcheck]);
      for (const name of secrets) expect(text).not.toContain(`{${name}`);
    }
  });

  it('starts the control plane after the migration, and resolvers and block page without waiting', () => {
    expect(services['control-plane'].depends_on).toMatchObject({
      migrate: { condition: 'service_completed_successfully' },
    });
    expect(services['migrate'].depends_on).toEqual({ postgres: { condition: 'service_healthy' } });
    for (const name of ['resolver-1', 'resolver-2', 'block-page']) {
      expect(services[name].depends_on, name).toBeUndefined();
    }
  });
});
