import type { RollingResult } from './run.js';

const MOST_LINES = 20;

/** What a run has come to, for a terminal. */
export function renderRolling(result: RollingResult): string {
  const { restarts, changes, pages, queries, violations } = result;
  const dns =
    queries === null ? 'none' : `${queries.sent}, of which ${queries.lost} were not answered`;
  const lines = [
    `Restarts         ${restarts}`,
    `DNS queries      ${dns}`,
    `Changes          ${changes}`,
    `Block pages      ${pages}`,
    `What must not be ${violations.length}`,
    ...violations.slice(0, MOST_LINES).map((violation) => `  ${violation}`),
  ];
  return lines.join('\n');
}
