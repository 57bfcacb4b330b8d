import type { StackConfiguration } from './configuration.js';
import { reachableHost } from './plan.js';
import type { StackSecrets } from './secrets.js';

/** What a newcomer reads when the stack is ready: addresses, token, and commands to try. */
export function renderWelcome(
  configuration: StackConfiguration,
  secrets: StackSecrets,
  dataDir: string,
): string {
  const certificate = configuration.MANAGEMENT_TLS_CERT;
  const scheme = certificate === undefined ? 'http' : 'https';
  const api = `${scheme}://${reachableHost(configuration.MANAGEMENT_HOST)}:${configuration.MANAGEMENT_PORT}`;
  const dnsHost = reachableHost(configuration.DNS_HOST).replace(/[[\]]/g, '');
  const resolvers = Array.from(
    { length: configuration.RESOLVERS },
    (_, i) => `${dnsHost} port ${configuration.DNS_PORT + i}`,
  );
  const docs = configuration.MANAGEMENT_DOCS === 'off' ? '' : `  Its pages       ${api}/docs\n`;
  const [token = ''] = secrets.managementTokens;
  const trust = certificate === undefined ? '' : `--cacert ${certificate} `;
  const json = `${trust}-w '\\n' -H "Authorization: Bearer $TOKEN" -H 'Content-Type: application/json'`;
  return `
Weir is ready.

  Management API  ${api}
${docs}  Token           ${token}
  Resolvers       ${resolvers.join(', ')} (UDP and TCP)
  Data and logs   ${dataDir}

To try, in another terminal: three calls, and a dig that shows what they came to

  export TOKEN=${token}
  curl ${json} ${api}/profiles/ -d '{"profile":{"id":1}}'
  curl ${json} ${api}/net/ -d '{"ip":"127.0.0.1","profile_id":1}'
  curl ${json} ${api}/profile/1/bw_list -d '{"type":"deny","domain":"example.com"}'
  dig @${dnsHost} -p ${configuration.DNS_PORT} www.example.com

Ctrl-C stops everything that was started here.
`;
}
