/** Every refusal of the management API other than 422: its status and what it says when nothing more exact is known. */
export const ERRORS = {
  sourceNotApproved: { status: 403, detail: 'Source address is not approved' },
  notAuthenticated: { status: 401, detail: 'Not authenticated' },
  pathNotFound: { status: 404, detail: 'No such path' },
  methodNotAllowed: { status: 405, detail: 'Method not allowed' },
  notJson: {
    status: 415,
    detail: 'The body must be application/json, UTF-8, at most gzip-encoded',
  },
  bodyTooLarge: { status: 413, detail: 'The body is larger than this deployment accepts' },
  notFound: { status: 404, detail: 'Not found' },
  conflict: { status: 409, detail: 'Conflict' },
  databaseUnreachable: {
    status: 503,
    detail: 'The database is out of reach; nothing was changed, try again',
  },
  commitUnknown: {
    status: 503,
    detail:
      'The database was lost while the change was committed; read whether it stands before you try again',
  },
  busy: { status: 503, detail: 'Other changes take too long; nothing was changed, try again' },
  internal: { status: 500, detail: 'Internal server error' },
} as const satisfies Record<string, { status: number; detail: string }>;

export type ErrorCode = keyof typeof ERRORS;

/** A request refused with a row of `ERRORS`. */
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

/** 404: the resource in the path does not exist. `what` names it with its key: `profile 7`. */
export function notFound(what: string): RequestError {
  return new RequestError('notFound', `${what} not found`);
}

/** 409: the detail says with which record the request clashes. */
export function conflict(detail: string): RequestError {
  return new RequestError('conflict', detail);
}
