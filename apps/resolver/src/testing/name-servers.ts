import { encodeQuery } from '@weir/dns-wire/testing';
import { freePort } from '@weir/ops/testing';
import { execFileSync } from 'node:child_process';
import { readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Identity } from './authority.js';
import { askUdp } from './client.js';
import { startProgram } from './programs.js';

const LOOPBACK = '127.0.0.1';
const READY_MS = 60_000;

export interface NameServer {
  readonly endpoint: { readonly address: string; readonly port: number };
  stop(): Promise<void>;
}

/** A test zone: origin, and its records besides SOA and NS in master file format (RFC 1035 §5.1). */
export interface Zone {
  readonly origin: string;
  readonly records: readonly string[];
}

/** Writes the zone to `<origin>.zone` in the folder. */
export function writeZone(folder: string, { origin, records }: Zone): void {
  const head = [
    `$ORIGIN ${origin}.`,
    '$TTL 3600',
    '@ IN SOA ns host 1 3600 1200 604800 300',
    '@ IN NS ns',
    `ns IN A ${LOOPBACK}`,
  ];
  writeFileSync(join(folder, `${origin}.zone`), [...head, ...records, ''].join('\n'));
}

/** Makes a key for the zone. @returns its name; `<name>.key` in the folder is the public part */
export function makeKey(folder: string, origin: string): string {
  const args = ['-a', 'ECDSAP256SHA256', '-k', origin];
  return execFileSync('ldns-keygen', args, { cwd: folder, encoding: 'utf8' }).trim();
}

/** Signs `<origin>.zone`, with NSEC3, into `<origin>.zone.signed`. */
export function signZone(folder: string, origin: string, key: string): void {
  execFileSync('ldns-signzone', ['-n', `${origin}.zone`, key], { cwd: folder });
}

/** nsd as the authoritative server of all zone files in the folder; signed files where they exist. */
export function startNsd(folder: string): Promise<NameServer> {
  const files = readdirSync(folder).filter((file) => file.endsWith('.zone'));
  const zones = files.flatMap((file) => {
    const isSigned = readdirSync(folder).includes(`${file}.signed`);
    const zonefile = isSigned ? `${file}.signed` : file;
    return ['zone:', `  name: ${file.replace(/\.zone$/, '')}`, `  zonefile: ${zonefile}`];
  });
  const settings = (port: number): string[] => [
    'server:',
    `  ip-address: ${LOOPBACK}@${port}`,
    '  server-count: 1',
    '  username: ""',
    '  chroot: ""',
    '  database: ""',
    `  zonesdir: "${folder}"`,
    `  pidfile: "${folder}/nsd.pid"`,
    `  xfrdfile: "${folder}/xfrd.state"`,
    `  zonelistfile: "${folder}/zone.list"`,
    `  xfrdir: "${folder}"`,
    'remote-control:',
    '  control-enable: no',
    ...zones,
  ];
  return start('nsd', ['-d', '-c'], folder, settings, files[0].replace(/\.zone$/, ''));
}

/** BIND as the authoritative server of a zone, whose file is `<origin>.zone`. It requires DNS cookies. */
export function startNamed(folder: string, origin: string): Promise<NameServer> {
  const settings = (port: number): string[] => [
    'options {',
    `  directory "${folder}";`,
    `  listen-on port ${port} { ${LOOPBACK}; };`,
    '  listen-on-v6 { none; };',
    '  pid-file none;',
    '  session-keyfile none;',
    '  recursion no;',
    '  require-server-cookie yes;',
    '};',
    'controls {};',
    `zone "${origin}" { type primary; file "${folder}/${origin}.zone"; };`,
  ];
  return start('named', ['-g', '-n', '1', '-c'], folder, settings, origin);
}

/** BIND, which forwards all queries to a server. */
export function startNamedForwarder(folder: string, server: NameServer): Promise<NameServer> {
  const { address, port: serverPort } = server.endpoint;
  const settings = (port: number): string[] => [
    'options {',
    `  directory "${folder}";`,
    `  listen-on port ${port} { ${LOOPBACK}; };`,
    '  listen-on-v6 { none; };',
    '  pid-file none;',
    '  session-keyfile none;',
    '  dnssec-validation no;',
    '  forward only;',
    `  forwarders { ${address} port ${serverPort}; };`,
    '};',
    'controls {};',
  ];
  return start('named', ['-g', '-n', '1', '-c'], folder, settings, 'example');
}

/**
 * unbound, which validates with the keys of those names, forwards `example` to the authority and knows nothing else.
 */
export function startUnbound(
  folder: string,
  authority: NameServer,
  keys: readonly string[],
  more: readonly string[] = [],
): Promise<NameServer> {
  const settings = (port: number): string[] => [
    'server:',
    `  interface: ${LOOPBACK}@${port}`,
    '  access-control: 127.0.0.0/8 allow_snoop',
    '  ede: yes',
    '  hide-version: yes',
    '  hide-identity: yes',
    ...more,
    ...forwardTo(folder, authority, keys),
  ];
  return start('unbound', ['-d', '-c'], folder, settings, 'example');
}

/** Settings of unbound, and of unbound-host, that go on in the clause `server`. @param folder has the keys */
export function forwardTo(folder: string, to: NameServer, keys: readonly string[]): string[] {
  return [
    '  username: ""',
    '  chroot: ""',
    `  directory: "${folder}"`,
    '  pidfile: ""',
    '  use-syslog: no',
    '  do-not-query-localhost: no',
    '  do-ip6: no',
    '  rrset-roundrobin: no',
    '  module-config: "validator iterator"',
    ...keys.map((key) => `  trust-anchor-file: "${folder}/${key}.key"`),
    // Not a stub zone: unbound would continue at the addresses of the NS records, on port 53.
    'forward-zone:',
    '  name: example',
    `  forward-addr: ${LOOPBACK}@${to.endpoint.port}`,
  ];
}

/** Settings of unbound for DNS over TLS on another port. */
export function overTls(port: number, { certFile, keyFile }: Identity): string[] {
  return [
    `  interface: ${LOOPBACK}@${port}`,
    `  tls-port: ${port}`,
    `  tls-service-pem: "${certFile}"`,
    `  tls-service-key: "${keyFile}"`,
  ];
}

/**
 * dnsdist, which forwards all queries to a server with PROXY protocol v2. It needs a moment to see that the server is
 * up.
 */
export function startDnsdist(folder: string, serverPort: number): Promise<NameServer> {
  const settings = (port: number): string[] => [
    `setLocal("${LOOPBACK}:${port}")`,
    'setSecurityPollSuffix("")',
    `newServer({address="${LOOPBACK}:${serverPort}", useProxyProtocol=true, checkName="localhost.", ` +
      // A server that stalls for some seconds is not down.
      'maxCheckFailures=60})',
  ];
  return start(
    'dnsdist',
    ['--supervised', '--disable-syslog', '-C'],
    folder,
    settings,
    'localhost',
  );
}

/**
 * Starts a server on a free port and waits until it answers. Another process may take the port first; then the server
 * is started again on another port.
 * @param args the path of the settings file is appended
 * @param question a name that the server answers
 */
async function start(
  program: string,
  args: readonly string[],
  folder: string,
  settings: (port: number) => readonly string[],
  question: string,
): Promise<NameServer> {
  const file = join(folder, `${program}.conf`);
  const deadlineMs = performance.now() + READY_MS;
  while (performance.now() < deadlineMs) {
    const port = await freePort();
    writeFileSync(file, settings(port).join('\n') + '\n');
    const server = startProgram(program, [...args, file]);
    const endpoint = { address: LOOPBACK, port };
    while (performance.now() < deadlineMs && !server.hasEnded) {
      // There is no answer until it listens.
      const answer = await askUdp(endpoint, encodeQuery(question, 6), 1_000).catch(() => null);
      if (answer !== null && !server.hasEnded) return { endpoint, stop: () => server.stop() };
    }
    await server.stop();
  }
  throw new Error(`${program} does not answer`);
}
