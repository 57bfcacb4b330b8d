import { RequestError } from '../http/errors/errors.js';
import { InvalidRequestError } from '../http/validation/fault.js';
import type { WithRevision } from '../revisions/with-revision.js';

/** What the client of a change would see. */
export async function clientAnswer(change: Promise<WithRevision<unknown>>) {
  try {
    const { result, revision } = await change;
    return { revision, result };
  } catch (error) {
    if (error instanceof RequestError) return { code: error.code, detail: error.detail };
    if (error instanceof InvalidRequestError) return { faults: error.faults };
    throw error;
  }
}
