import type { Zone } from './name-servers.js';

const TEXT = 'x'.repeat(200);

/** What is met in the wild, in small: several records, chains, wildcards, answers that need TCP. */
export const PLAIN_ZONE: Zone = {
  origin: 'zone.example',
  records: [
    'www A 192.0.2.1',
    'www A 192.0.2.2',
    'www AAAA 2001:db8::1',
    'mail MX 10 www',
    '@ TXT "v=spf1 -all" "two strings"',
    'svc HTTPS 1 . alpn=h2,h3 ipv4hint=192.0.2.1',
    '_sip._tcp SRV 1 2 5060 www',
    'chain0 CNAME chain1',
    'chain1 CNAME chain2',
    'chain2 CNAME chain3',
    'chain3 CNAME www',
    'dangling CNAME nowhere',
    '*.wild A 192.0.2.3',
    ...Array.from({ length: 20 }, (_, i) => `big TXT "${String(i).padStart(2, '0')}${TEXT}"`),
    ...Array.from({ length: 250 }, (_, i) => `huge TXT "${String(i).padStart(3, '0')}${TEXT}"`),
  ],
};

/** To be signed. */
export const SIGNED_ZONE: Zone = {
  origin: 'signed.example',
  records: [
    'www A 192.0.2.4',
    'alias CNAME www',
    '*.wild A 192.0.2.5',
    ...Array.from({ length: 20 }, (_, i) => `big TXT "${String(i).padStart(2, '0')}${TEXT}"`),
  ],
};

/** To be signed with another key than validators are told of: all of it is bogus. */
export const BOGUS_ZONE: Zone = { origin: 'bogus.example', records: ['www A 192.0.2.6'] };
