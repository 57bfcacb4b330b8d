import { readFileSync } from 'node:fs';

/** Names the commit that a build was made of; an image sets it when it is built. */
export const COMMIT_VARIABLE = 'WEIR_COMMIT';

/**
 * What `--version` says: the version of package.json, and the commit where the build has noted one. `0.1.0 (89a4cd8)`.
 * @param packageFile the process's own package.json
 */
export function readVersion(
  packageFile: URL,
  environment: Readonly<Record<string, string | undefined>>,
): string {
  const { version } = JSON.parse(readFileSync(packageFile, 'utf8')) as { version: string };
  const commit = environment[COMMIT_VARIABLE]?.trim() ?? '';
  return commit === '' ? version : `${version} (${commit})`;
}
