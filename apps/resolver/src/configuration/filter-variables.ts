import { boolean, integer, optional, text } from '@weir/ops';
import { domainList } from './value-kinds.js';

const MAX_OPTION = 65_534;

/** What the filter does besides `ANSWER_VARIABLES`. */
export const FILTER_VARIABLES = {
  BLOCK_REBINDING: boolean({
    description:
      'Whether clients with a profile get no private addresses in the answers of upstreams: loopback, private, ' +
      'shared (100.64.0.0/10), link-local and unique local ones, by which a website could reach devices in the ' +
      'network of its visitor (DNS rebinding). Local records and block pages are not affected. New installations ' +
      'turn it on.',
    default: 'false',
  }),
  REBINDING_ALLOWED_ZONES: domainList({
    description:
      'Domains whose names, and all below them, may have private addresses although BLOCK_REBINDING is on: your own ' +
      'services with such addresses, plex.direct, lists that mail servers ask (DNSBL).',
    default: 'home.arpa,internal,local',
  }),
  STRUCTURED_ERRORS_OPTION: optional(
    integer(1, MAX_OPTION, {
      description:
        'Code of the EDNS option by which clients ask for structured errors ' +
        '(draft-ietf-dnsop-structured-dns-error; it has no code yet). Over DNS over TLS and HTTPS, such a client ' +
        'gets the reason of a block as JSON, with the name and the contacts of the provider. Unset: nobody does.',
    }),
  ),
} as const;

/** Names that are answered without an upstream. */
export const LOCAL_ANSWER_VARIABLES = {
  LOCAL_RECORDS: optional(
    text('a YAML file', {
      description:
        'YAML file with records of your own, for every client that is served: they come before policy, ' +
        'cache and upstreams. A name of the file has no other records; all other names are resolved as ' +
        'usual. The target of a CNAME record may be any name, and is judged by the profile. A changed file is ' +
        'used within ten seconds, without a restart. A bad one is refused whole, logged with the number of the ' +
        'line, and changes nothing; at the start it ends the process. At most 256 KiB and 1,000 records.',
    }),
  ),
} as const;
