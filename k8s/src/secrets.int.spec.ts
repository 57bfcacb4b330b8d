import { describe, expect, it } from 'vitest';
import type { KubernetesObject } from './objects/testing/kubernetes-object.js';
import { podsOf } from './pods/testing/pod.js';
import { render } from './testing/render.js';
import { ciValues, overlay, type Values } from './testing/values.js';
import { renderInCluster } from './testing/cluster.js';
import { findObject, secretTexts } from './testing/find.js';

const TRIAL = ciValues('trial');
const STORES = {
  DATABASE_URL: 'postgresql://weir:secret@db.example/weir',
  REDIS_URL: 'redis://:secret@redis.example',
};
const SET = {
  DOMAIN_HASH_KEY: '000102030405060708090a0b0c0d0e0f',
  FEED_TOKENS: ['a-token-of-the-feed'],
  MANAGEMENT_TOKENS: ['a-token-of-the-management-api'],
};
const EXTERNAL: Values = {
  image: { registry: 'registry.example' },
  secrets: { values: STORES, generate: true },
  resolver: { env: { UPSTREAMS: ['192.0.2.53'] } },
};

const checksum = (objects: readonly KubernetesObject[], component: string): string | undefined => {
  const template = podsOf(objects).find((pod) => pod.component === component)?.annotations;
  return template?.['checksum/secret'];
};

describe('the Secret of the release', () => {
  it('has random keys and tokens', () => {
    const texts = secretTexts(render({ values: EXTERNAL }), 'weir');
    expect(texts).toMatchObject(STORES);
    expect(texts['DOMAIN_HASH_KEY']).toMatch(/^[0-9a-f]{32}$/);
    expect(texts['DNS_COOKIE_SECRETS']).toMatch(/^[0-9a-f]{32}$/);
    expect(texts['INCIDENT_KEYS']).toMatch(/^[0-9a-f]{32}$/);
    expect(texts['FEED_TOKENS']).toMatch(/^\w{40}$/);
    expect(texts['MANAGEMENT_TOKENS']).toMatch(/^\w{40}$/);
    expect(texts['OPS_TOKENS']).toMatch(/^\w{40}$/);
    expect(new Set(Object.values(texts)).size).toBe(Object.keys(texts).length);
  });

  it('needs no FEED_TOKENS where a Secret has the file with them', () => {
    const { DOMAIN_HASH_KEY, MANAGEMENT_TOKENS } = SET;
    const values = overlay(EXTERNAL, {
      secrets: {
        generate: false,
        feedTokensSecret: 'feed',
        values: { DOMAIN_HASH_KEY, MANAGEMENT_TOKENS },
      },
    });
    const objects = render({ values });
    expect(secretTexts(objects, 'weir')).not.toHaveProperty('FEED_TOKENS');
    for (const { container } of podsOf(objects)) {
      const token = container.env?.find(({ name }) => name === 'FEED_TOKENS');
      expect(token?.valueFrom?.secretKeyRef?.optional ?? true).toBe(true);
    }
  });

  it('has other keys and tokens in another deployment', () => {
    const [one, other] = [0, 1].map(() => secretTexts(render({ values: EXTERNAL }), 'weir'));
    for (const key of [
      'DOMAIN_HASH_KEY',
      'DNS_COOKIE_SECRETS',
      'INCIDENT_KEYS',
      'FEED_TOKENS',
      'MANAGEMENT_TOKENS',
      'OPS_TOKENS',
    ]) {
      expect(one[key], key).not.toBe(other[key]);
    }
  });

  it('keeps the generated values when the release is upgraded', async () => {
    const before = render({ values: TRIAL });
    const after = await renderInCluster({ values: TRIAL, isUpgrade: true }, before);
    expect(secretTexts(after, 'weir')).toEqual(secretTexts(before, 'weir'));
    for (const component of ['control-plane', 'resolver', 'block-page']) {
      expect(checksum(after, component)).toBe(checksum(before, component));
    }
  });

  it('keeps a value that was set once, until another value is set', async () => {
    const objects = render({ values: EXTERNAL });
    const values = overlay(EXTERNAL, {
      secrets: { values: { DATABASE_URL: null, REDIS_URL: null } },
    });
    const kept = await renderInCluster({ values }, objects);
    expect(secretTexts(kept, 'weir')).toEqual(secretTexts(objects, 'weir'));
    const token = 'another-token-of-the-feed';
    const changed = overlay(EXTERNAL, { secrets: { values: { FEED_TOKENS: [token] } } });
    const replaced = await renderInCluster({ values: changed }, objects);
    expect(secretTexts(replaced, 'weir')['FEED_TOKENS']).toBe(token);
  });

  it('replaces only the pods that read a changed variable', async () => {
    const objects = render({ values: EXTERNAL });
    const tokens = ['another-token-of-the-back-office'];
    const values = overlay(EXTERNAL, { secrets: { values: { MANAGEMENT_TOKENS: tokens } } });
    const after = await renderInCluster({ values }, objects);
    expect(checksum(after, 'control-plane')).not.toBe(checksum(objects, 'control-plane'));
    expect(checksum(after, 'resolver')).toBe(checksum(objects, 'resolver'));
  });

  it('has the same passwords in the URLs and in the bundled stores', () => {
    const texts = secretTexts(render({ values: TRIAL }), 'weir');
    expect(texts['OWNER_DATABASE_URL']).toBe(
      `postgresql://weir:${texts['POSTGRES_PASSWORD']}@weir-postgresql:5432/weir`,
    );
    expect(texts['DATABASE_URL']).toBe(
      `postgresql://weir_runtime:${texts['POSTGRES_RUNTIME_PASSWORD']}@weir-postgresql:5432/weir`,
    );
    expect(texts['POSTGRES_RUNTIME_PASSWORD']).not.toBe(texts['POSTGRES_PASSWORD']);
    expect(texts['REDIS_URL']).toBe(`redis://:${texts['REDIS_PASSWORD']}@weir-redis:6379`);
    expect(texts['redis.conf']).toContain(`\nrequirepass ${texts['REDIS_PASSWORD']}\n`);
    expect(texts['redis.conf']).toContain('\nmaxmemory-policy noeviction\n');
  });

  it('stays when the release is uninstalled', () => {
    const { metadata } = findObject(render({ values: EXTERNAL }), 'Secret', 'weir');
    expect(metadata.annotations?.['helm.sh/resource-policy']).toBe('keep');
  });

  it('has only the values that are set, without secrets.generate, and does not look into the cluster', async () => {
    const values = overlay(EXTERNAL, { secrets: { generate: false, values: SET } });
    const existing = render({ values: EXTERNAL });
    const objects = await renderInCluster({ values, isUpgrade: true }, existing);
    expect(secretTexts(objects, 'weir')).toEqual({
      ...STORES,
      ...SET,
      FEED_TOKENS: SET.FEED_TOKENS[0],
      MANAGEMENT_TOKENS: SET.MANAGEMENT_TOKENS[0],
    });
  });

  it.each(Object.keys(SET))('requires %s when nothing may be generated', (name) => {
    const given = { ...SET, [name]: null };
    const values = overlay(EXTERNAL, { secrets: { generate: false, values: given } });
    expect(() => render({ values })).toThrow(
      `${name} is not set: set secrets.existing, or secrets.values.${name}, or, unless Argo CD or Flux renders`,
    );
  });

  it('needs no token of the management API when those are in a file, and no database without a control plane', () => {
    const given = { ...SET, MANAGEMENT_TOKENS: null };
    const values = overlay(EXTERNAL, { secrets: { generate: false, values: given } });
    expect(
      render({ values: overlay(values, { controlPlane: { tokensSecret: 'tokens' } }) }),
    ).not.toEqual([]);
    const env = { FEED_URL: 'https://feed.example:8090' };
    const elsewhere = {
      secrets: { values: { DATABASE_URL: null } },
      controlPlane: { enabled: false },
      resolver: { env },
      blockPage: { env },
    };
    expect(render({ values: overlay(values, elsewhere) })).not.toEqual([]);
  });

  it('is not made when secrets.existing names another one', () => {
    const objects = render({ values: ciValues('minimal') });
    expect(objects.filter(({ kind }) => kind === 'Secret')).toEqual([]);
    const references = podsOf(objects).flatMap(({ container }) => container.env ?? []);
    const named = references.flatMap(({ valueFrom }) => valueFrom?.secretKeyRef?.name ?? []);
    expect(new Set(named)).toEqual(new Set(['weir']));
  });

  it.each(Object.keys(STORES))('requires %s when that store is not bundled', (name) => {
    const values = overlay(EXTERNAL, { secrets: { values: { [name]: null } } });
    expect(() => render({ values })).toThrow(`${name} is not set: set secrets.existing`);
  });
});
