import { tarArchive, tarEntry } from '../../lists/testing/lists.js';

/** Lines from the beginning of a list: of its header, and some of its names. */
export interface ListSample {
  /** The end of the URL of the list. */
  readonly url: string;
  readonly licence: string;
  /** The day of the list; null: the sample is written in the form of the list, and has no line of it. */
  readonly recorded: string | null;
  readonly list: string | Uint8Array;
  readonly names: readonly string[];
}

/** A sample that ends with its names, one a line. */
function sample(
  url: string,
  licence: string,
  recorded: string | null,
  header: string,
  names: readonly string[],
  before = '',
): ListSample {
  const list = header + names.map((name) => `${before}${name}\n`).join('');
  return { url, licence, recorded, list, names };
}

/** https://github.com/hagezi/dns-blocklists */
function hagezi(
  file: string,
  recorded: string,
  title: string,
  entries: number,
  ...names: string[]
): ListSample {
  const header = `# Title: HaGeZi's ${title}
# Homepage: https://github.com/hagezi/dns-blocklists
# License: https://github.com/hagezi/dns-blocklists/blob/main/LICENSE
# Issues: https://github.com/hagezi/dns-blocklists/issues
# Syntax: Domains (without subdomains)
# Number of entries: ${entries}
#
`;
  return sample(`/wildcard/${file}-onlydomains.txt`, 'GPL-3.0', recorded, header, names);
}

/** https://github.com/hagezi/nrd */
function newDomains(file: string, recorded: string | null, ...names: string[]): ListSample {
  const header = `# Title: Newly registered entropy domains (entropy NRDs/DGAs)
# Homepage: https://github.com/hagezi/nrd
# License: https://github.com/hagezi/nrd/blob/main/LICENSE
# Expires: 8 hours
# Syntax: Domains (including possible subdomains)
# Number of entries: 582919
#
`;
  return sample(`/hagezi/nrd/main/domains/${file}.txt`, 'GPL-3.0', recorded, header, names);
}

/** https://github.com/blocklistproject/Lists */
function blocklistProject(
  file: string,
  title: string,
  modified: string,
  entries: string,
  ...names: string[]
): ListSample {
  const header = `# Title: ${title} Block List
# Homepage: https://github.com/blocklistproject/Lists
# License: MIT
# Last modified: ${modified}
# Format: domains
# Entries: ${entries}
# URL:${' '}
#
# This list is maintained by The Block List Project
# https://github.com/blocklistproject/Lists
#

`;
  return sample(`/alt-version/${file}-nl.txt`, 'Unlicense', modified.slice(0, 10), header, names);
}

/** https://github.com/sjhgvr/oisd */
function oisd(title: string, modified: string, entries: number, ...names: string[]): ListSample {
  const header = `# Title: oisd ${title}
# Description: Block. Don't break.
# Syntax: Domains (wildcards) without *.
# Entries: ${entries}
# Last modified: ${modified}
# Expires: 1 hours
# License: https://github.com/sjhgvr/oisd/blob/main/LICENSE
# Maintainer: Stephan van Ruth
# Homepage: https://oisd.nl

# All domains and their subdomains should be blocked
# Entry: "example.com" should block access to "example.com" and "subdomain.example.com" but not "thiseexample.com"

`;
  return sample(`/${title}.oisd.nl/domainswild2`, 'GPL-3.0', modified.slice(0, 10), header, names);
}

/** https://github.com/StevenBlack/hosts: parts of several lists, each with a header. */
function stevenBlack(
  file: string,
  recorded: string,
  title: string,
  own: string,
  part: string,
  ...names: string[]
): ListSample {
  const header = `# ${title}
#
# This hosts file is a merged collection of hosts from reputable sources,
# with a dash of crowd sourcing via GitHub
#
# ===============================================================

${own}# Custom host records are listed here.


# End of custom host records.
# ${part}

`;
  return sample(`/StevenBlack/hosts/master/${file}`, 'MIT', recorded, header, names, '0.0.0.0 ');
}

const OWN_HOSTS = `127.0.0.1 localhost
127.0.0.1 localhost.localdomain
127.0.0.1 local
255.255.255.255 broadcasthost
::1 localhost
fe80::1%lo0 localhost

`;

/** The archives of https://dsi.ut-capitole.fr/blacklists/ have these entries. */
function ut1(name: string): ListSample {
  const names = [`0-${name.replace('_', '-')}.example`, 'casino.example'];
  const list = tarArchive(
    tarEntry(`${name}/`, '', '5'),
    tarEntry(`${name}/domains`, names.map((domain) => `${domain}\n`).join('')),
    tarEntry(`${name}/urls`, 'shared.example/casino/\n'),
    tarEntry(`${name}/usage`, 'black\n'),
  );
  return { url: `/download/${name}.tar.gz`, licence: 'CC-BY-SA-4.0', recorded: null, list, names };
}

export const LIST_SAMPLES: readonly ListSample[] = [
  hagezi('pro', '2026-02-07', 'Pro DNS Blocklist', 188_764, '0.beer', '0--0.info', '0-02.net'),
  hagezi(
    'nsfw',
    '2026-09-02',
    'NSFW - blocks adult content!',
    120_720,
    'explorer.01coin.io',
    'i.4cdn.org',
  ),
  hagezi(
    'doh',
    '2026-02-04',
    'Encrypted DNS Bypass DNS Blocklist',
    3476,
    'ss.0001.xyz',
    'ns.00dani.me',
  ),
  hagezi(
    'doh-vpn-proxy-bypass',
    '2026-01-19',
    'Encrypted DNS/VPN/TOR/Proxy Bypass DNS Blocklist',
    8110,
    'ss.0001.xyz',
    '003153.xyz',
  ),
  hagezi(
    'gambling',
    '2026-01-15',
    'Gambling DNS Blocklist',
    187_809,
    '0-bdmbet.com',
    '0-casino.info',
  ),
  hagezi(
    'tif.medium',
    '2024-07-15',
    'Threat Intelligence Feeds DNS Blocklist - medium version',
    184_177,
    '0-0.fr',
    '0-7l45.cfd',
  ),
  hagezi(
    'tif',
    '2026-05-21',
    'Threat Intelligence Feeds DNS Blocklist',
    1_265_360,
    'tz.0-0.site',
    'video-call.0-1h.com',
  ),
  hagezi(
    'nosafesearch',
    '2024-07-14',
    'safesearch not supported DNS Blocklist',
    225,
    'searx.32bitflo.at',
    'yep.com',
  ),
  hagezi('urlshortener', '2026-02-26', 'Blocklist URL Shortener', 9993, '0.gp', '369.xn--6frz82g'),
  newDomains('dga7', '2026-09-06', '0-4r6g06mad64t7z-qss.com', '0-jvzgnrw8mlwyc.com'),
  newDomains('nrd7', null, '0-registered.example', 'yesterday.example'),
  oisd('big', '2025-09-07T21:21:38+0000', 202_319, '0--foodwarez.da.ru', '0-02.net'),
  oisd('nsfw', '2026-07-21T11:25:36+0000', 467_469, '0-0.asia', '000.xxx'),
  blocklistProject(
    'malware',
    'Malware',
    '2026-06-23 20:46:40 UTC',
    '3',
    'endfieldrecords.com',
    'rouf.xyz',
    'www.endfieldrecords.com',
  ),
  blocklistProject(
    'phishing',
    'Phishing',
    '2026-07-06 00:40:29 UTC',
    '190,215',
    '0.01.2.13.3.sydneypropertyinvestors.com',
    '000000-0.000webhostapp.com',
  ),
  blocklistProject(
    'ransomware',
    'Ransomware',
    '2026-07-06 00:40:31 UTC',
    '1,904',
    '25z5g623wpqpdwis.onion.to',
    '27c73bq66y4xqoh7.dorfact.at',
  ),
  stevenBlack(
    'hosts',
    '2017-03-20',
    'Number of unique domains: 35,531',
    OWN_HOSTS,
    '[General]',
    'lb.usemaxserver.de',
    'tracking.klickthru.com',
  ),
  stevenBlack(
    'alternates/porn-only/hosts',
    '2024-12-03',
    'Title: StevenBlack/hosts extension porn',
    '',
    'Title: hostsVN Adult',
    '0006666.net',
    '0310love.com',
  ),
  stevenBlack(
    'alternates/gambling-only/hosts',
    '2023-06-18',
    'Title: StevenBlack/hosts extension gambling',
    '',
    'Title: hostsVN Gambling',
    '0000130.com',
    '0066130.com',
  ),
  // https://gitlab.com/malware-filter/urlhaus-filter
  sample(
    '/urlhaus-filter-hosts-online.txt',
    'CC0-1.0',
    '2025-07-19',
    `# Title: Online Malicious Hosts Blocklist
# Updated: 2025-07-19T12:11:28Z
# Expires: 12 hours (update frequency)
# Homepage: https://gitlab.com/malware-filter/urlhaus-filter
# License: https://gitlab.com/malware-filter/urlhaus-filter#license
# Source: https://urlhaus.abuse.ch/api/
`,
    ['0022a601.pphost.net', '1.izumisv1.cc'],
    '0.0.0.0 ',
  ),
  // https://gitlab.com/malware-filter/phishing-filter
  sample(
    '/phishing-filter-hosts.txt',
    'CC-BY-SA-4.0',
    null,
    `# Title: Phishing Hosts Blocklist
# Updated: 2026-01-01T00:00:00Z
# Expires: 1 day (update frequency)
# Homepage: https://gitlab.com/malware-filter/phishing-filter
`,
    ['1005857365.example', 'bank---login.example'],
    '0.0.0.0 ',
  ),
  ...[
    'adult',
    'gambling',
    'social_networks',
    'games',
    'dating',
    'drogue',
    'malware',
    'phishing',
  ].map(ut1),
];
