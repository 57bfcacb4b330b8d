export { BlockErrors } from './block-errors.js';
export { addressRdata, BlockPages, toRdata } from './block-pages.js';
export { contactUris, phoneUri, supportUri } from './contact-uris.js';
export { Action, type AskedQuery, DecidedQuery } from './decided-query.js';
export { LocalAnswers } from './local-answers.js';
export { faultAt, type LocalRecord, MAX_RECORDS, LocalRecords } from './local-records.js';
export { OwnAnswers, type OwnAnswersOptions, PROHIBITED } from './own-answers.js';
export { QueryDecider, type QueryDeciderOptions } from './query-decider.js';
export { ServerInformation, type ServerRecords } from './server-information.js';
export {
  SpecialMatch,
  SpecialNameTable,
  DESIGNATION_ZONES,
  DISCOVERY_ZONES,
  LOCAL_ZONES,
  READINESS_ZONES,
  Special,
} from './special-names.js';
export { TargetHasher, TargetHashes, TargetInspector, TargetVerdict } from './target-inspector.js';
