export * from './answer.js';
export { AnswerChain, ChainStatus, MAX_TARGETS } from './answer-chain.js';
export { copyBytes, readUint16, readUint32, writeUint16, writeUint32 } from './bytes.js';
export { hasOption } from './edns.js';
export { type ExtendedError, extendedError, NO_EXTENDED_ERROR } from './opt.js';
export * from './forwarding.js';
export * from './cache-ttl.js';
export {
  BAD_NAME,
  equalsIgnoringCase,
  expandName,
  formatName,
  parseName,
  skipName,
  wireNameBytes,
} from './names.js';
export { hasPrivateAddresses, PrivateAddressRemoval } from './private-addresses.js';
export * from './protocol.js';
export * from './query.js';
export { ResponseBuilder } from './response-builder.js';
export {
  answersQuestion,
  headerErrorOf,
  isNotUnderstood,
  NO_HEADER_ERROR,
  parseResponse,
  parseTruncated,
  removeAdditional,
  Response,
  setEmptyResponse,
} from './response.js';
export { isReadable } from './copied-records.js';
export { Scrubber } from './scrubber.js';
export * from './upstream-query.js';
