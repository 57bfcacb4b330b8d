import { readFileSync } from 'node:fs';

/** The commit of the build; set when an image is built. */
const COMMIT_VARIABLE = 'WEIR_COMMIT';

/**
 * The text of `--version`: the version of package.json, and the commit if the build has set one: `0.1.0 (89a4cd8)`.
 * @param packageFile the package.json of the repository
 */
export function readVersion(
  packageFile: URL,
  environment: Readonly<Record<string, string | undefined>>,
): string {
  const { version } = JSON.parse(readFileSync(packageFile, 'utf8')) as { version: string };
  const commit = environment[COMMIT_VARIABLE]?.trim() ?? '';
  return commit === '' ? version : `${version} (${commit})`;
}
