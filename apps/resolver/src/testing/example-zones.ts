import type { Zone } from './name-servers.js';

const TEXT = 'x'.repeat(200);

/** A sample of real zones: several records, CNAME chains, wildcards, answers that need TCP. */
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

/** A zone to be signed. */
export const SIGNED_ZONE: Zone = {
  origin: 'signed.example',
  records: [
    'www A 192.0.2.4',
    'alias CNAME www',
    '*.wild A 192.0.2.5',
    ...Array.from({ length: 20 }, (_, i) => `big TXT "${String(i).padStart(2, '0')}${TEXT}"`),
  ],
};

/** A zone to be signed with a key that validators do not trust: every answer is bogus. */
export const BOGUS_ZONE: Zone = { origin: 'bogus.example', records: ['www A 192.0.2.6'] };
