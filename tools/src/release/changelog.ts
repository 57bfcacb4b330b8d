/** A release as the changelog names it. */
export interface Release {
  /** Such as `0.1.0`. */
  readonly version: string;
  /** The whole hash, which is also that of the tag `v<version>`. */
  readonly commit: string;
}

const UNRELEASED = /^## Unreleased\n([\s\S]*?)(?=^## |$(?![\s\S]))/m;

/** The newest release that a changelog names by its commit. Null: there is none yet. */
export function newestRelease(changelog: string): Release | null {
  const named = /^## (\d+\.\d+\.\d+) \([\d-]+\)\n\nCommit `([0-9a-f]{40})`\.$/m.exec(changelog);
  return named === null ? null : { version: named[1], commit: named[2] };
}

/**
 * Gives what is unreleased to a release.
 * @param date as in ISO 8601: `2026-11-23`
 * @throws Error with one line when nothing is unreleased, or the release is there already
 */
export function releaseChanges(changelog: string, version: string, date: string): string {
  const [, changes] = UNRELEASED.exec(changelog) ?? [];
  if (changes === undefined) throw new Error('CHANGELOG.md has no section "## Unreleased"');
  if (changes.trim() === '') throw new Error('CHANGELOG.md has nothing in "## Unreleased"');
  if (changelog.includes(`\n## ${version} (`))
    throw new Error(`CHANGELOG.md has ${version} already`);
  return changelog.replace('## Unreleased\n', `## Unreleased\n\n## ${version} (${date})\n`);
}

/** Names the commit of a release. */
export function nameCommit(changelog: string, { version, commit }: Release): string {
  const heading = new RegExp(`^(## ${version.replaceAll('.', '\\.')} \\(.*\\)\n)`, 'm');
  return changelog.replace(heading, `$1\nCommit \`${commit}\`.\n`);
}
