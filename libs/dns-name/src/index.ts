export { DomainError, domainOrNull, normaliseDomain, toWireName } from './domain.js';
export { type HashKey, parseHashKey } from './sip-instance.js';
export { cutHash, hashDomain, SipHash, SuffixHashes } from './suffix-hashes.js';
export { SuffixTable } from './suffix-table.js';
