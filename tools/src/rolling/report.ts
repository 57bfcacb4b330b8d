import type { RollingResult } from './run.js';

const MAX_LINES = 20;

/** The result of a run as text. */
export function renderRolling(result: RollingResult): string {
  const { restarts, changes, pages, queries, violations } = result;
  const dns =
    queries === null ? 'none' : `${queries.sent}, of which ${queries.lost} were not answered`;
  const lines = [
    `Restarts         ${restarts}`,
    `DNS queries      ${dns}`,
    `Changes          ${changes}`,
    `Block pages      ${pages}`,
    `Violations       ${violations.length}`,
    ...violations.slice(0, MAX_LINES).map((violation) => `  ${violation}`),
  ];
  return lines.join('\n');
}
