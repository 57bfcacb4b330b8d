import { describe, expect, it } from 'vitest';
import type { KubernetesObject } from './objects/testing/kubernetes-object.js';
import { podsOf } from './pods/testing/pod.js';
import { render } from './testing/render.js';
import { ciValues } from './testing/values.js';
import { findObject, secretTexts } from './testing/find.js';

const hookOf = (objects: readonly KubernetesObject[], kind: string): string | undefined =>
  findObject(objects, kind, 'weir-migrate').metadata.annotations?.['helm.sh/hook'];
const BEFORE = 'pre-install,pre-upgrade';

/** Name of the Secret that the migration reads. */
function secretOf(objects: readonly KubernetesObject[]): string | undefined {
  const migrate = podsOf(objects).find(({ component }) => component === 'migrate');
  return migrate?.container.env?.[0]?.valueFrom?.secretKeyRef?.name;
}

const renderWith = (values: string, isUpgrade = false) =>
  render({ values: ciValues(values), isUpgrade });

describe('the migration', () => {
  it('runs before the first new pod', () => {
    expect(hookOf(renderWith('minimal'), 'Job')).toBe(BEFORE);
  });

  it('has a Secret of its own with the URL of the database, made before the Secret of the release', () => {
    const objects = render({ values: { ...ciValues('full'), fullnameOverride: 'weir' } });
    expect(hookOf(objects, 'Secret')).toBe(BEFORE);
    expect(secretOf(objects)).toBe('weir-migrate');
    const { DATABASE_URL, OWNER_DATABASE_URL } = secretTexts(objects, 'weir');
    expect(secretTexts(objects, 'weir-migrate')).toEqual({ DATABASE_URL, OWNER_DATABASE_URL });
    const weight = (kind: string) =>
      Number(
        findObject(objects, kind, 'weir-migrate').metadata.annotations?.['helm.sh/hook-weight'],
      );
    expect(weight('Secret')).toBeLessThan(weight('Job'));
  });

  it('alone has the role that owns the tables, if there is one', () => {
    const owners = podsOf(renderWith('trial')).filter(({ container }) =>
      container.env?.some(({ name }) => name === 'OWNER_DATABASE_URL'),
    );
    expect(owners.map(({ component }) => component)).toEqual(['migrate']);
    const [reference] = owners[0].container.env!.filter(
      ({ name }) => name === 'OWNER_DATABASE_URL',
    );
    expect(reference.valueFrom?.secretKeyRef).toMatchObject({ optional: true });
  });

  it('reads the existing Secret that the values name', () => {
    expect(secretOf(renderWith('minimal'))).toBe('weir');
  });

  it('is no hook at the first install with the bundled PostgreSQL, because --wait would never end', () => {
    const objects = renderWith('trial');
    expect(hookOf(objects, 'Job')).toBeUndefined();
    expect(secretOf(objects)).toBe('weir');
  });

  it('is a hook again when a release with the bundled PostgreSQL is upgraded', () => {
    const objects = renderWith('trial', true);
    expect(hookOf(objects, 'Job')).toBe(BEFORE);
    expect(secretOf(objects)).toBe('weir-migrate');
  });

  it('is retried a limited number of times', () => {
    const { spec } = findObject(renderWith('trial'), 'Job', 'weir-migrate');
    expect(spec).toMatchObject({
      backoffLimit: 6,
      activeDeadlineSeconds: 1800,
      template: { spec: { restartPolicy: 'Never' } },
    });
  });

  it('is not made without a control plane', () => {
    expect(podsOf(renderWith('daemonset')).map(({ component }) => component)).toEqual([
      'resolver',
      'block-page',
    ]);
  });
});
