import {
  address,
  boolean,
  choice,
  cidrList,
  type Configuration,
  upstreamList,
  INCIDENT_VARIABLES,
  integer,
  LOG_LEVELS,
  matching,
  OPS_VARIABLES,
  optional,
  port,
  text,
  type Variable,
  VariableFault,
} from '@weir/ops';
import { FEED_VARIABLES } from '@weir/policy-feed';
import { ANSWER_VARIABLES, BRAND_VARIABLES } from '@weir/policy-feed/state';
import { TELEMETRY_VARIABLES } from '@weir/telemetry';
import { LANGUAGES } from './texts/index.js';

const MAX_CONNECTIONS = 65_536;
const MAX_RATE = 1_000_000;
const MAX_DATA_URI_LENGTH = 100_000;

const IMAGE_DATA_URI = /^data:image\/(?:png|jpeg|gif|webp|svg\+xml)[;,][\x21-\x7e]*$/;

export const SCHEMA = {
  BLOCK_PAGE_HOST: address({
    description: 'Address of the page.',
    default: '127.0.0.1',
  }),
  BLOCK_PAGE_PORT: port({
    description:
      'HTTP port of the page. Browsers use port 80, so forward port 80 of the addresses in block ' +
      'answers to it.',
    default: '8081',
  }),
  BLOCK_PAGE_HTTPS_PORT: optional(
    port({
      description:
        'Port on which each connection is reset at once, usually 443, if nothing else refuses it. ' +
        'No certificate is valid for a blocked name. Unset: nothing listens.',
    }),
  ),
  BLOCK_PAGE_CONTENT: optional(
    text('a folder', {
      description:
        'Custom block pages: `<page id>/index.html` with its files beside it. Read again when it ' +
        'changes. Unset: only the built-in page.',
    }),
  ),
  BLOCK_PAGE_TRUSTED_PROXIES: optional(
    cidrList({
      description:
        'Proxies and load balancers that may name the visitor, by X-Forwarded-For or a PROXY ' +
        'protocol v2 header. Unset: none.',
    }),
  ),
  BLOCK_PAGE_CONNECTIONS: integer(1, MAX_CONNECTIONS, {
    description:
      'Maximum number of open connections. When all are in use, the subscriber with the most loses one. Clients ' +
      'without a profile have an eighth of them together.',
    default: '4096',
  }),
  BLOCK_PAGE_CLIENT_CONNECTIONS: integer(1, MAX_CONNECTIONS, {
    description: 'Maximum number of open connections of one subscriber.',
    default: '64',
  }),
  BLOCK_PAGE_CLIENT_RATE: integer(0, MAX_RATE, {
    description: 'Requests per second of one subscriber; more get 429. 0: no limit.',
    default: '100',
  }),
  BLOCK_PAGE_LANGUAGE: choice(LANGUAGES, {
    description:
      'Language of the page for visitors whose browser accepts no language that the page has.',
    default: 'en',
  }),
  BLOCK_PAGE_BRAND_LOGO: optional(
    logo({
      description: 'Logo of the provider on the built-in page; a file is read at the start.',
    }),
  ),
  BLOCK_PAGE_BRAND_COLOR: matching(/^#[\dA-Fa-f]{6}$/, 7, 'a colour such as #0b57d0', {
    description:
      'Colour of the header and the button; text on it is black or white, whichever has more contrast.',
    default: '#1f4e79',
  }),
  ...BRAND_VARIABLES,
  ORDERS_PAGE: ANSWER_VARIABLES.ORDERS_PAGE,
  INSPECT_CNAME: boolean({
    description:
      'Whether a name with a blocked CNAME target is blocked; use the same value as for the ' +
      'resolvers. Orders and mandatory categories always block it. The page asks UPSTREAMS for the CNAME ' +
      'records of permitted names.',
    default: 'true',
  }),
  UPSTREAMS: optional(
    upstreamList(53, {
      description:
        'Resolvers for CNAME lookups; use the same value as for the resolvers. Entries with tls:// are left out, ' +
        'because lookups are in clear text; if there are no others, nothing is looked up. Unset: the ' +
        'nameservers of the system.',
    }),
  ),
  ...INCIDENT_VARIABLES,
  ...FEED_VARIABLES,
  ...OPS_VARIABLES,
  ...TELEMETRY_VARIABLES,
  OPS_PORT: port({ description: 'Port of health, metrics and the preview.', default: '9090' }),
  LOG_LEVEL: choice(LOG_LEVELS, {
    description: 'Lowest level that is logged.',
    default: 'info',
  }),
};

export type BlockPageConfiguration = Configuration<typeof SCHEMA>;

function logo(options: { readonly description: string }): Variable<string> {
  const parse = (value: string): string => {
    const isValid = value.length <= MAX_DATA_URI_LENGTH && IMAGE_DATA_URI.test(value);
    if (value.startsWith('data:') && !isValid) throw new VariableFault();
    return value;
  };
  const allowed =
    'a file, or a data URI of at most 100000 characters, of a PNG, JPEG, GIF, WebP or SVG image';
  return { ...text(allowed, options), parse };
}
