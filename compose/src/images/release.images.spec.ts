import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { Deployment, SOURCE } from './testing/deployment.js';
import { docker, dockerEnvironment, inspectImage } from './testing/docker.js';

const VERSION = '9.8.7';
const TARGETS = ['block-page', 'control-plane', 'migrate', 'resolver'];
const USER = { name: 'test', email: 'test@example.org' };

describe('npm run release', () => {
  let clone: Deployment;

  beforeAll(async () => {
    clone = await Deployment.create({
      ...dockerEnvironment(),
      GIT_AUTHOR_NAME: USER.name,
      GIT_AUTHOR_EMAIL: USER.email,
      GIT_COMMITTER_NAME: USER.name,
      GIT_COMMITTER_EMAIL: USER.email,
    });
  });
  afterAll(async () => {
    for (const target of TARGETS) await docker('rmi', '--force', `weir/${target}:${VERSION}`);
    await clone.remove();
  });

  it('builds the images of the tagged commit, its chart and its lists of contents in a new clone', async () => {
    const output = await clone.shell(`npm run release -- ${VERSION}`);
    expect(output).toContain('git push --atomic origin main v9.8.7');

    const commit = await clone.shell(`git rev-parse v${VERSION}^{commit}`);
    for (const target of TARGETS) {
      const image = `weir/${target}:${VERSION}`;
      expect((await inspectImage(image)).Config.Labels, target).toMatchObject({
        'org.opencontainers.image.revision': commit,
        'org.opencontainers.image.source': SOURCE,
        'org.opencontainers.image.version': VERSION,
      });
      expect(await docker('run', '--rm', image, '--version'), target).toContain(VERSION);
    }
    expect(readdirSync(join(clone.folder, 'release')).sort()).toEqual(
      [
        `weir-${VERSION}.tgz`,
        ...TARGETS.map((target) => `weir-${target}-${VERSION}.cdx.json`),
      ].sort(),
    );
    expect(await clone.shell('git status --porcelain')).toBe('');
    expect(
      (await clone.shell(`git diff --name-only v${VERSION}~1 v${VERSION}`)).split('\n'),
    ).toEqual([
      '.env.example',
      'CHANGELOG.md',
      'Dockerfile',
      'docker-compose.yml',
      'docs/openapi.json',
      'docs/operations/helm-special-cases.md',
      'docs/operations/install-compose.md',
      'docs/operations/install-helm.md',
      'k8s/weir/Chart.yaml',
      'package-lock.json',
      'package.json',
    ]);
    const chart = await clone.shell(`tar -xzOf release/weir-${VERSION}.tgz weir/Chart.yaml`);
    expect(chart.split('\n')).toContain(`version: ${VERSION}`);
    // The upgrade tests start from the commit that the changelog names.
    expect(await clone.shell('git show HEAD')).toContain(commit);
  });
});
