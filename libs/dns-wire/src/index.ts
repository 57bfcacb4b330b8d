export * from './answer.js';
export { AnswerChain, ChainStatus, MAX_TARGETS } from './answer-chain.js';
export { copyBytes, readUint16, readUint32, writeUint16, writeUint32 } from './bytes.js';
export { hasOption } from './edns.js';
export { lengthenQuestion } from './descendant.js';
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
export * from './opt.js';
export { hasPrivateAddresses, PrivateAddressRemoval } from './private-addresses.js';
export * from './protocol.js';
export * from './query.js';
export * from './query-options.js';
export * from './records-answer.js';
export { ResponseBuilder } from './response-builder.js';
export {
  answersQuestion,
  parseResponse,
  removeAdditional,
  Response,
  setEmptyResponse,
} from './response.js';
export { Scrubber } from './scrubber.js';
export { headerErrorOf, NO_HEADER_ERROR, removeEdns } from './without-edns.js';
