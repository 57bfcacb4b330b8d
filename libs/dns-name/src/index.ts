export { DomainError, normaliseDomain } from './domain.js';
export { cutHash, hashDomain } from './hash-domain.js';
export { type HashKey, parseHashKey } from './hash-key.js';
export { SipHash } from './sip-hash.js';
export { SuffixHashes } from './suffix-hashes.js';
export { SuffixTable } from './suffix-table.js';
export { toWireName } from './wire-name.js';
