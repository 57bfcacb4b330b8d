import { BLOCK_ADDRESS } from '../jobs.js';
import { map, peer } from './peer.js';

export const dnsmasq = peer({
  name: 'dnsmasq',
  debianPackage: 'dnsmasq-base',
  command: 'dnsmasq',
  args: ({ port, upstreamPort, folder }) => [
    '--keep-in-foreground',
    '--log-facility=-',
    '--no-resolv',
    '--no-hosts',
    '--user=root',
    '--pid-file=',
    '--listen-address=127.0.0.1',
    '--bind-interfaces',
    `--port=${port}`,
    `--server=127.0.0.1#${upstreamPort}`,
    '--cache-size=500000',
    '--dns-forward-max=8192',
    '--local-ttl=60',
    `--conf-file=${folder}/dnsmasq.conf`,
  ],
  files: ({ blockedDomains }) => ({
    'dnsmasq.conf': map(blockedDomains(), (domain) => `address=/${domain}/${BLOCK_ADDRESS}`),
  }),
});
