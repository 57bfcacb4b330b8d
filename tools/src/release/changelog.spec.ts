import { describe, expect, it } from 'vitest';
import { nameCommit, newestRelease, releaseChanges } from './changelog.js';

const CHANGELOG = `# Changelog

## Unreleased

### API

- A change.
`;
const COMMIT = 'a1'.repeat(20);

describe('the changelog', () => {
  it('names no release before the first', () => {
    expect(newestRelease(CHANGELOG)).toBeNull();
  });

  it('names a release by its commit once that is known', () => {
    const released = releaseChanges(CHANGELOG, '0.1.0', '2026-11-23');
    expect(released).toContain(
      '## Unreleased\n\n## 0.1.0 (2026-11-23)\n\n### API\n\n- A change.\n',
    );
    expect(newestRelease(released)).toBeNull();
    const named = nameCommit(released, { version: '0.1.0', commit: COMMIT });
    expect(newestRelease(named)).toEqual({ version: '0.1.0', commit: COMMIT });
  });

  it('names the newest of several releases', () => {
    const first = nameCommit(releaseChanges(CHANGELOG, '0.1.0', '2026-11-23'), {
      version: '0.1.0',
      commit: 'b2'.repeat(20),
    });
    const more = first.replace('## Unreleased\n', '## Unreleased\n\n- More.\n');
    const second = releaseChanges(more, '0.2.0', '2026-12-24');
    expect(newestRelease(second)?.version).toBe('0.1.0');
    const release = { version: '0.2.0', commit: COMMIT };
    expect(newestRelease(nameCommit(second, release))).toEqual(release);
  });

  it.each([
    ['# Changelog\n', 'has no section'],
    ['# Changelog\n\n## Unreleased\n', 'has nothing in'],
    ['# Changelog\n\n## Unreleased\n\n## 0.0.1 (2026-01-01)\n\n- A.\n', 'has nothing in'],
    [
      '# Changelog\n\n## Unreleased\n\n- A.\n\n## 0.1.0 (2026-01-01)\n\n- B.\n',
      'has 0.1.0 already',
    ],
  ])('%j cannot be released: it %s', (changelog, reason) => {
    expect(() => releaseChanges(changelog, '0.1.0', '2026-11-23')).toThrow(reason);
  });
});
