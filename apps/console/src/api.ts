import { effect, signal } from '@preact/signals';
import createClient from 'openapi-fetch';
import { forgetDrafts } from './router.js';
import { inStorage } from './storage.js';
import type { components, paths } from './generated/api.js';

/** The schemas of the contract by name: `Schemas['ExplanationAnswer']`. */
export type Schemas = components['schemas'];

/** A token that the control plane has accepted. */
export interface Session {
  readonly token: string;
  readonly name: string;
  readonly scope: Schemas['OwnTokenAnswer']['scope'];
  /** RFC 3339; null: the token has no end. */
  readonly expires: string | null;
  /** `SCHEDULE_TIMEZONE`, in which all times are shown. */
  readonly timeZone: string;
}

const SCOPES = ['read', 'write', 'replace'];
const STORED_TOKEN = 'weir.token';
export const UNAUTHORIZED = 401;
/** Without a body of the control plane, a proxy sends them in its place. */
const GATEWAY_ERRORS = [502, 503, 504];
/** In place of a status: a change has no answer, so nobody knows whether it was made. */
export const UNANSWERED = -1;

/** Null: nobody is signed in. */
export const session = signal<Session | null>(null);
/** The last session, when it ended because its token was no longer accepted. */
export const endedSession = signal<Session | null>(null);

/** The time zone in which times are shown and entered. */
export const ownTimeZone = (): string => session.value?.timeZone ?? 'UTC';

/** The token of a former load of this tab. */
export const storedToken = (): string | null =>
  inStorage('sessionStorage', (storage) => storage.getItem(STORED_TOKEN));

/** Whether the token includes a scope. What it does not include is not offered. */
export function allows(scope: Session['scope']): boolean {
  return SCOPES.indexOf(session.value?.scope ?? '') >= SCOPES.indexOf(scope);
}

/** A call that was refused, or (status 0, or `UNANSWERED`) that did not reach the control plane. */
export class CallError extends Error {
  constructor(
    readonly status: number,
    /** What the control plane says, in English; one line for each fault. */
    readonly details: readonly string[],
    readonly requestId: string | null,
  ) {
    super(details.join('; '));
  }
}

/** Whether it is of no use to try again. */
export const isFault = (error: unknown): boolean =>
  error instanceof CallError && error.status >= 400 && error.status < 500 && error.status !== 429;

export const isGone = (error: unknown): error is CallError =>
  error instanceof CallError && error.status === 404;

/** The methods of the management API by path, with the token of the session. Calls that fail throw `CallError`. */
export const api = createClient<paths>({ baseUrl: globalThis.location.origin, fetch: send });

/**
 * Sends any request with the token of the session.
 * @param transfer sends it, and waits for the response.
 * @throws CallError
 */
export async function send(
  request: Request,
  transfer: (request: Request) => Promise<Response> = fetch,
): Promise<Response> {
  const by = session.value;
  if (by !== null) request.headers.set('Authorization', `Bearer ${by.token}`);
  const isChange = request.method !== 'GET' && !request.url.endsWith('?dry_run=true');
  const unanswered = new CallError(isChange ? UNANSWERED : 0, [], null);
  const response = await transfer(request).catch((error: unknown) => {
    throw request.signal.aborted ? error : unanswered;
  });
  if (response.ok) return response;
  // A late refusal does not end the session after it.
  if (response.status === UNAUTHORIZED && by !== null && by === session.value) {
    leave();
    endedSession.value = by;
  }
  const refused = await refusal(response);
  const isOfProxy = GATEWAY_ERRORS.includes(refused.status) && refused.details.length === 0;
  throw isOfProxy ? unanswered : refused;
}

async function refusal(response: Response): Promise<CallError> {
  const read = async (): Promise<string[]> => {
    const { detail } = (await response.json()) as Schemas['Faults'] | Schemas['Refusal'];
    if (typeof detail === 'string') return [detail];
    return detail.map(({ loc, msg }) => `${loc.join('.')}: ${msg}`);
  };
  // The body may be that of a proxy.
  const details = await read().catch(() => []);
  return new CallError(response.status, details, response.headers.get('x-request-id'));
}

/** The JSON of the response to a call of `api`. */
export async function dataOf<T>(
  call: Promise<{ readonly data?: T }>,
): Promise<Exclude<T, string | undefined>> {
  const { data } = await call;
  return data as Exclude<T, string | undefined>;
}

/** Where a change is in force, from the response to a call of `api` that made it. */
export interface Applied {
  readonly revision: number;
  /** `2/2` */
  readonly applied: string;
}

export async function changeBy(call: Promise<{ readonly response: Response }>): Promise<Applied> {
  const { headers } = (await call).response;
  return {
    revision: Number(headers.get('x-config-revision')),
    applied: headers.get('x-config-applied') ?? '',
  };
}

/** The token is tried this long after its end, and then as often, until it is refused. */
const RETRY_MS = 1_000;
/** The longest that a timer of a browser waits. */
const MAX_WAIT_MS = 2 ** 31 - 1;

/** A page that calls nothing learns by this that its token has ended. */
effect(() => {
  const by = session.value;
  if (by === null || by.expires === null) return;
  const endMs = Date.parse(by.expires);
  const ask = async (): Promise<void> => {
    if (Date.now() >= endMs) await api.GET('/token/').catch(() => undefined);
    wait();
  };
  let timer = 0;
  const wait = (): void => {
    if (session.peek() !== by) return;
    const waitMs = Math.min(Math.max(endMs - Date.now(), 0) + RETRY_MS, MAX_WAIT_MS);
    timer = window.setTimeout(() => void ask(), waitMs);
  };
  wait();
  return () => window.clearTimeout(timer);
});

/** @throws CallError when the token is not accepted, which is then forgotten. */
export async function signIn(token: string): Promise<void> {
  try {
    const headers = { Authorization: `Bearer ${token}` };
    const { data, response } = await api.GET('/token/', { headers });
    const { name, scope, expires } = data as Schemas['OwnTokenAnswer'];
    const timeZone = response.headers.get('x-schedule-timezone') ?? 'UTC';
    inStorage('sessionStorage', (storage) => storage.setItem(STORED_TOKEN, token));
    endedSession.value = null;
    session.value = { token, name, scope, expires, timeZone };
  } catch (error) {
    if (error instanceof CallError && error.status === UNAUTHORIZED) leave();
    throw error;
  }
}

export function signOut(): void {
  leave();
  forgetDrafts();
}

function leave(): void {
  inStorage('sessionStorage', (storage) => storage.removeItem(STORED_TOKEN));
  session.value = null;
}
