import { boolean, optional, text } from '@weir/ops';

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
  LOCAL_ZONES: boolean({
    description:
      'Whether special-use names are answered here and never sent to an upstream: localhost, test, ' +
      'invalid, local, onion, alt, home.arpa and the reverse zones of private addresses.',
    default: 'true',
  }),
  BLOCK_RESOLVER_DISCOVERY: boolean({
    description:
      'Whether clients are kept from switching to another resolver, which would bypass the filter. ' +
      'use-application-dns.net, mask.icloud.com and mask-h2.icloud.com do not exist, and ' +
      '_dns.resolver.arpa is empty (without DNS_DESIGNATED_NAME), whatever the profile says.',
    default: 'true',
  }),
} as const;
