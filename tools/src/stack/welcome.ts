import { fstatSync } from 'node:fs';
import { STACK_OPS_OFFSET, type StackConfiguration } from './configuration.js';
import { reachableHost, resolverListeners } from './plan.js';
import type { StackSecrets } from './secrets.js';

/**
 * Whether standard output goes to the journal of systemd, which other users may read.
 * @param journalStream `JOURNAL_STREAM`: device and inode of the journal's socket (systemd.exec(5)).
 * A child of a service inherits the variable even if its output goes elsewhere, so device and inode are compared.
 */
export function isSystemdJournal(journalStream: string | undefined, fileDescriptor = 1): boolean {
  const { dev, ino } = fstatSync(fileDescriptor);
  return journalStream === `${dev}:${ino}`;
}

/**
 * The message when the stack is ready: addresses, token, and commands to try. `isLogged`: it goes to a log that others
 * may read; then it does not contain the token. `degraded`: see `Stack.degraded`.
 */
export function renderWelcome(
  configuration: StackConfiguration,
  secrets: StackSecrets,
  dataDir: string,
  { isLogged = false, degraded = [] as readonly string[] } = {},
): string {
  const certificate = configuration.MANAGEMENT_TLS_CERT;
  const scheme = certificate === undefined ? 'http' : 'https';
  const api = `${scheme}://${reachableHost(configuration.MANAGEMENT_HOST)}:${configuration.MANAGEMENT_PORT}`;
  const listeners = resolverListeners(configuration).map(({ hosts, ports }) => {
    const reachable = hosts.map((host) => reachableHost(host).replace(/[[\]]/g, ''));
    return { hosts: reachable, port: ports['DNS_PORT'] };
  });
  const resolvers = listeners.map(({ hosts, port }) => `${hosts.join(' and ')} port ${port}`);
  const blockPage = `http://${reachableHost(configuration.BLOCK_PAGE_HOST)}:${configuration.BLOCK_PAGE_PORT}`;
  const docs = configuration.MANAGEMENT_DOCS === 'off' ? '' : `  Its pages       ${api}/docs\n`;
  const console = configuration.MANAGEMENT_CONSOLE ? `  Console         ${api}/console/\n` : '';
  const [token = ''] = secrets.managementTokens;
  const trust = certificate === undefined ? '' : `--cacert ${certificate} `;
  const json = `${trust}-w '\\n' -H "Authorization: Bearer $TOKEN" -H 'Content-Type: application/json'`;
  const ops = `http://${reachableHost(configuration.OPS_HOST)}:${configuration.OPS_PORT + STACK_OPS_OFFSET}`;
  const places = `
Weir is ready.

  Management API  ${api}
${docs}${console}  Token           ${isLogged ? `see MANAGEMENT_TOKENS, or ${dataDir}/secrets.json` : token}
  Resolvers       ${resolvers.join(', ')} (UDP and TCP)
  Block page      ${blockPage}
  Health, metrics ${ops}/readyz, ${ops}/metrics
  Data and logs   ${dataDir}
  Secrets         ${dataDir}/secrets.json
${degraded.map((what) => `  Degraded        ${what}\n`).join('')}`;
  if (isLogged) return places;
  return `${places}
To try it, run this in another terminal: three calls, a DNS query that shows their effect, and the block page

  export TOKEN=${token}
  curl ${json} ${api}/profiles/ -d '{"profile":{"id":1}}'
  curl ${json} ${api}/net/ -d '{"ip":"127.0.0.1","profile_id":1}'
  curl ${json} ${api}/profile/1/bw_list -d '{"type":"deny","domain":"example.com"}'
  dig @${listeners[0].hosts[0]} -p ${listeners[0].port} www.example.com
  curl -H 'Host: www.example.com' ${blockPage}/

Ctrl-C stops everything that was started here.
`;
}
