import { Ede, Rcode, type Response, setEmptyResponse } from '@weir/dns-wire';
import { type InFlight, NO_ERROR } from './in-flight.js';

/** Makes `response` what clients of a question get when it has no answer: the error of an upstream, or SERVFAIL. */
export function setFailure(response: Response, entry: InFlight): void {
  const { bytes, query } = entry.question;
  const hasError = entry.errorRcode !== NO_ERROR;
  const rcode = hasError ? entry.errorRcode : Rcode.servFail;
  const silence = entry.hasOpenAttempt ? Ede.noReachableAuthority : Ede.networkError;
  setEmptyResponse(response, bytes, query, rcode, hasError ? entry.errorEde : silence);
}
