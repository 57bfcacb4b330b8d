/** Every error response of the management API except 422: its status and its default detail. */
export const ERRORS = {
  sourceNotApproved: { status: 403, detail: 'Source address is not approved' },
  scopeMissing: { status: 403, detail: 'The scope of the token does not include this call' },
  notAuthenticated: { status: 401, detail: 'Not authenticated' },
  tooManyCalls: {
    status: 429,
    detail: 'Too many calls with this token. Nothing was changed, so try again',
  },
  pathNotFound: { status: 404, detail: 'No such path' },
  methodNotAllowed: { status: 405, detail: 'Method not allowed' },
  notJson: {
    status: 415,
    detail:
      'The body must be application/json, and match its Content-Encoding: gzip, deflate, br or none',
  },
  bodyTooLarge: { status: 413, detail: 'The body is larger than this deployment accepts' },
  bodyStalled: { status: 408, detail: 'The rest of the body did not come in time' },
  notFound: { status: 404, detail: 'Not found' },
  conflict: { status: 409, detail: 'Conflict' },
  databaseUnreachable: {
    status: 503,
    detail: 'The database is out of reach. Nothing was changed, so try again',
  },
  commitUnknown: {
    status: 504,
    detail:
      'The database was lost during the commit. Read whether the change was made before you repeat it',
  },
  tooManyBodies: {
    status: 503,
    detail: 'Other bodies are being read. Nothing was changed, so try again',
  },
  mismatch: {
    status: 503,
    detail: 'This control plane does not fit the database. Nothing was changed',
  },
  busy: { status: 503, detail: 'Earlier changes take too long. Nothing was changed, so try again' },
  internal: { status: 500, detail: 'Internal server error' },
} as const satisfies Record<string, { status: number; detail: string }>;

export type ErrorCode = keyof typeof ERRORS;

/** Ends a request with one of `ERRORS`. */
export class RequestError extends Error {
  override readonly name = 'RequestError';

  constructor(
    readonly code: ErrorCode,
    readonly detail: string = ERRORS[code].detail,
    readonly headers: Readonly<Record<string, string>> = {},
  ) {
    super(detail);
  }
}

/** 404: the resource in the path does not exist. @param what the resource with its key: `profile 7`. */
export function notFound(what: string): RequestError {
  return new RequestError('notFound', `${what} not found`);
}

/** What was found. @throws RequestError 404 when there is nothing. @param what as of `notFound`. */
export function orNotFound<T>(found: T | null | undefined, what: string): T {
  if (found === null || found === undefined) throw notFound(what);
  return found;
}

/** 409. @param detail names the record that the request conflicts with. */
export function conflict(detail: string): RequestError {
  return new RequestError('conflict', detail);
}
