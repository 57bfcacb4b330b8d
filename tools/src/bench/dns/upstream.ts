import { spawnSync } from 'node:child_process';
import { existsSync, writeFileSync } from 'node:fs';
import { cpus } from 'node:os';
import { join } from 'node:path';
import { UPSTREAM_ADDRESS } from '../../deployment/dns-message.js';
import { type Child, startChild } from '../../services/child.js';
import { ORIGIN, type Transport } from './jobs.js';

const NSD = '/usr/sbin/nsd';

/**
 * What a comparison needs and this machine lacks. Programs are named by their Debian packages.
 * @param transports over which servers are asked
 */
export function missingPrograms(transports: readonly Transport[] = ['udp']): string[] {
  const missing: string[] = [];
  const need = (command: string, debianPackage: string): void => {
    if (spawnSync(command, ['--help']).error !== undefined) missing.push(debianPackage);
  };
  need('dnsperf', 'dnsperf');
  need('taskset', 'util-linux');
  if (transports.includes('doh')) need('h2load', 'nghttp2-client');
  if (transports.includes('doh') || transports.includes('dot')) need('openssl', 'openssl');
  if (!existsSync(NSD)) missing.push('nsd');
  if (cpus().length < 2) missing.push('a second core');
  return missing;
}

/** Starts nsd, which gives `UPSTREAM_ADDRESS` to every name below `ORIGIN`. */
export function startUpstream(folder: string, port: number): Child {
  const zone = `$ORIGIN ${ORIGIN}.
$TTL 3600
@ IN SOA ns host 1 3600 1200 604800 300
@ IN NS ns
ns IN A 127.0.0.1
* IN A ${UPSTREAM_ADDRESS}
`;
  const settings = `server:
ip-address: 127.0.0.1@${port}
server-count: 1
username: ""
chroot: ""
database: ""
minimal-responses: yes
# Response rate limiting would leave a server, which is one client, without answers above 200 a second.
rrl-ratelimit: 0
rrl-whitelist-ratelimit: 0
pidfile: ""
xfrdfile: "${folder}/xfrd.state"
zonelistfile: "${folder}/zone.list"
xfrdir: "${folder}"
remote-control:
control-enable: no
zone:
name: ${ORIGIN}
zonefile: "${folder}/zone"
`;
  writeFileSync(join(folder, 'zone'), zone);
  writeFileSync(join(folder, 'nsd.conf'), settings);
  return startChild({
    command: NSD,
    args: ['-d', '-c', join(folder, 'nsd.conf')],
    env: { PATH: process.env['PATH'] },
    logFile: join(folder, 'nsd.log'),
  });
}
