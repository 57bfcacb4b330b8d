import { readFileSync } from 'node:fs';
import { type IncomingMessage, request as requestHttp } from 'node:http';
import { request as requestHttps, type RequestOptions } from 'node:https';
import { resolve } from 'node:path';
import { Readable } from 'node:stream';
import { text } from 'node:stream/consumers';
import { pipeline } from 'node:stream/promises';
import { type Environment, Failure } from '../context.js';
import { controlPlaneVariables, ROOT } from '../stack.js';

/** The control plane could not be reached, or is not able to answer now. */
export class Unreachable extends Failure {}

/** Longest time for the whole answer to a GET. */
const DEADLINE_MS = 30_000;

/** Parameters of a query; those that are undefined are left out. */
export type Query = Readonly<Record<string, string | number | undefined>>;

/** A field that an answer has, or each item of a list. Other servers send other JSON. */
type Field<T> = T extends readonly (infer One)[] ? readonly [keyof One] : keyof T;

interface Call {
  /** Undefined: GET. */
  readonly method?: 'POST' | 'PATCH' | 'DELETE';
  readonly query?: Query;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: AsyncIterable<Uint8Array> | string;
  readonly signal?: AbortSignal;
}

/** The management API, as a caller with one token. */
export class Api {
  private readonly url: string;
  private readonly token: string;
  private readonly options: RequestOptions;

  /**
   * By `WEIR_URL` and `WEIR_TOKEN`, or by the variables of the control plane in this container, or of the stack that
   * runs from this folder. @throws Failure when there are none.
   */
  constructor(
    environment: Environment,
    private readonly deadlineMs = DEADLINE_MS,
  ) {
    const { WEIR_URL, WEIR_TOKEN } = environment;
    // Somebody may have exported one of them for `npm start`.
    const needed = ['MANAGEMENT_PORT', ...(WEIR_TOKEN === undefined ? ['MANAGEMENT_TOKENS'] : [])];
    const own = WEIR_URL === undefined ? controlPlaneVariables(environment, ...needed) : {};
    const certificate = own['MANAGEMENT_TLS_CERT'];
    const token = WEIR_TOKEN ?? own['MANAGEMENT_TOKENS']?.split(',')[0].trim();
    if (WEIR_URL === undefined && own['MANAGEMENT_PORT'] === undefined) {
      throw new Failure('set WEIR_URL and WEIR_TOKEN, or start the local stack (npm start)');
    }
    // A token of the stack is for its own control plane only.
    if (!token) throw new Failure('set WEIR_TOKEN to a token of the management API');
    if (!/^[\x21-\x7e]+$/.test(token)) {
      throw new Failure('WEIR_TOKEN has a character that no token has');
    }
    this.token = token;
    this.url = (WEIR_URL ?? ownUrl(own)).replace(/\/+$/, '');
    if (!/^https?:\/\//.test(this.url))
      throw new Failure('WEIR_URL must begin with https:// or http://');
    if (!URL.canParse(this.url)) throw new Failure('WEIR_URL is not a valid URL');
    // It may be for a name that this machine is reached by from elsewhere: it is the certificate itself that counts.
    this.options =
      certificate === undefined
        ? {}
        : {
            ca: readFileSync(resolve(ROOT, certificate)),
            allowPartialTrustChain: true,
            checkServerIdentity: () => undefined,
          };
  }

  /** @returns what the API said. @throws Failure with its `detail`, or when the answer does not have the field. */
  async get<T>(
    path: string,
    field: Field<T>,
    query: Query = {},
    interrupted?: AbortSignal,
  ): Promise<T> {
    const deadline = AbortSignal.timeout(this.deadlineMs);
    const signal = interrupted === undefined ? deadline : AbortSignal.any([interrupted, deadline]);
    const { said } = await this.ask(path, { query, signal });
    const answer = parsed(said);
    const isExpected = Array.isArray(field)
      ? Array.isArray(answer) && answer.every((one) => hasField(one, field[0] as PropertyKey))
      : hasField(answer, field as PropertyKey);
    if (!isExpected) throw this.notControlPlane();
    return answer as T;
  }

  /** @returns the whole answer to a call that succeeded. @throws Failure with its `detail`. */
  async ask(
    path: string,
    call: Call,
  ): Promise<Pick<IncomingMessage, 'headers'> & { readonly said: string }> {
    const answer = await this.call(path, call);
    return { said: await this.textOf(answer), headers: answer.headers };
  }

  private textOf(answer: IncomingMessage): Promise<string> {
    return text(answer).catch((error: unknown) => {
      throw new Unreachable(`the answer of ${this.url} broke off: ${(error as Error).message}`);
    });
  }

  /** @returns the answer to a call that succeeded. @throws Failure with its `detail`. */
  async call(path: string, call: Call): Promise<IncomingMessage> {
    const answer = await this.send(path, call);
    const { statusCode = 0, statusMessage = '' } = answer;
    if (statusCode >= 200 && statusCode < 300) {
      const { headers } = answer;
      const isRead = call.method === undefined;
      const isOfControlPlane = isRead
        ? /json|event-stream/.test(headers['content-type'] ?? '') && 'x-request-id' in headers
        : 'x-config-revision' in headers;
      if (isOfControlPlane) return answer;
      // The answer may have no end.
      answer.destroy();
      throw this.notControlPlane(isRead ? '' : ', so it is not known what it has done');
    }
    const reasons = reasonsOf(await this.textOf(answer), `${statusCode} ${statusMessage}`);
    throw statusCode >= 502 ? new Unreachable(reasons) : new Failure(reasons);
  }

  private notControlPlane(doubt = ''): Failure {
    return new Failure(`${this.url} does not answer as a control plane${doubt}: see WEIR_URL`);
  }

  private send(
    path: string,
    { method, query = {}, headers, body, signal }: Call,
  ): Promise<IncomingMessage> {
    const url = new URL(`${this.url}${path}`);
    for (const [name, value] of Object.entries(query)) {
      if (value !== undefined) url.searchParams.set(name, String(value));
    }
    // To the API, `+` stands for itself.
    url.search = url.search.replaceAll('+', '%20');
    return new Promise((done, fail) => {
      const request = url.protocol === 'https:' ? requestHttps : requestHttp;
      const sent = request(
        url,
        {
          ...this.options,
          method,
          agent: false,
          headers: {
            Authorization: `Bearer ${this.token}`,
            ...(body !== undefined && { 'Content-Type': 'application/json' }),
            ...headers,
          },
          ...(signal !== undefined && { signal }),
        },
        done,
      );
      sent.on('error', (error: NodeJS.ErrnoException) => {
        // OpenSSL ends its messages with the end of a line.
        const [reason] = (error.message || String(error.code)).split('\n');
        fail(new Unreachable(`${this.url} cannot be reached: ${reason}`));
      });
      // An answer may come before the whole body is sent; then the rest is not needed.
      pipeline(Readable.from(body ?? []), sent).catch(fail);
    });
  }
}

/** Undefined: it is no JSON. */
function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

function hasField(value: unknown, field: PropertyKey): boolean {
  return typeof value === 'object' && value !== null && field in value;
}

function ownUrl(own: Environment): string {
  const { MANAGEMENT_HOST: host = '127.0.0.1', MANAGEMENT_PORT: port, MANAGEMENT_TLS_CERT } = own;
  const reachable = host === '0.0.0.0' || host === '::' ? 'localhost' : host;
  const scheme = MANAGEMENT_TLS_CERT === undefined ? 'http' : 'https';
  return `${scheme}://${reachable.includes(':') ? `[${reachable}]` : reachable}:${port}`;
}

interface Fault {
  readonly loc: readonly string[];
  readonly msg: string;
}

/** The lines of the API's `detail`: a text, or a list of faults (decisions §1). @param otherwise where there is none */
export function reasonsOf(body: string, otherwise: string): string {
  try {
    const { detail, request_id: id } = JSON.parse(body) as {
      detail?: string | Fault[];
      request_id?: string;
    };
    if (Array.isArray(detail)) {
      // Without a place it is about the whole body.
      const lines = detail.map(({ loc: [, ...place], msg }) =>
        place.length === 0 ? msg : `${place.join('.')}: ${msg}`,
      );
      return lines.join('\n');
    }
    if (typeof detail !== 'string') return otherwise;
    return id === undefined ? detail : `${detail} (request ${id})`;
  } catch {
    return otherwise; // A proxy says it in HTML.
  }
}
