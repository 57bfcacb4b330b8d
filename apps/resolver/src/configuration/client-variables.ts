import { cidrList, optional, text } from '@weir/ops';

/** Loopback, private, shared (RFC 6598) and unique local networks (decisions §7). */
const PRIVATE_NETWORKS = [
  '127.0.0.0/8',
  '10.0.0.0/8',
  '172.16.0.0/12',
  '192.168.0.0/16',
  '100.64.0.0/10',
  '::1/128',
  'fc00::/7',
];

/** Who is served, and through which load balancers. */
export const CLIENT_VARIABLES = {
  DNS_ALLOWED_CLIENTS: cidrList({
    description:
      'Networks whose clients are served unfiltered when no profile is assigned to them. Other ' +
      'clients without a profile are refused.',
    default: PRIVATE_NETWORKS.join(','),
  }),
  DNS_ALLOWED_CLIENTS_FILE: optional(
    text('a file of networks', {
      description:
        'File that takes the place of DNS_ALLOWED_CLIENTS: one network a line, # begins a comment. A changed ' +
        'file is used within ten seconds, without a restart. A bad one, or one without any network, is logged ' +
        'and changes nothing; at the start it ends the process.',
    }),
  ),
  DNS_PROXY_PROTOCOL_FROM: optional(
    cidrList({
      description:
        'Load balancers. They must send a PROXY protocol v2 header with the address and port of the ' +
        'client before each UDP query and at the start of each connection. Without it they get no ' +
        'answer. The header of any other sender is not accepted. Unset: none.',
    }),
  ),
} as const;
