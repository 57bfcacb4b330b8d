import { MAX_HEADER_BYTES } from '../doh.js';
import type { FieldSink } from './hpack.js';

/** Of one request. */
const MAX_FIELDS = 64;
/** Of each field beside its name and value (RFC 9113 §6.5.2). */
const FIELD_BYTES = 32;
/** They belong to HTTP/1.1 (RFC 9113 §8.2.2). */
const OF_A_CONNECTION = new Set([
  'connection',
  'keep-alive',
  'proxy-connection',
  'transfer-encoding',
  'upgrade',
]);

/** A value has none of these (RFC 9113 §8.2.1). */
const WRONG_VALUE = /[\0\r\n]|^[\t ]|[\t ]$/;

/** The fields of one request, as far as DNS over HTTPS needs them, and whether they are sound (RFC 9113 §8.2, §8.3). */
export class RequestFields implements FieldSink {
  method = '';
  /** Path and query. */
  target = '';
  contentType = '';
  /** −1: it is not said. */
  contentLength = -1;
  /** The client waits to be asked for the body (RFC 9110 §10.1.1). */
  expectsContinue = false;
  isMalformed = false;
  /** Size of the list, as a peer counts it. */
  bytes = 0;
  private scheme = '';
  private authority = '';
  private count = 0;
  private hasRegularField = false;

  /** Another request begins. */
  clear(): void {
    this.method = this.target = this.scheme = this.authority = this.contentType = '';
    this.contentLength = -1;
    this.expectsContinue = this.isMalformed = false;
    this.bytes = this.count = 0;
    this.hasRegularField = false;
  }

  field(name: string, value: string): void {
    this.count++;
    this.bytes += name.length + value.length + FIELD_BYTES;
    // One byte of a header block may be a name of 4,000.
    if (this.isTooLarge) return;
    if (WRONG_VALUE.test(value)) this.isMalformed = true;
    if (name.startsWith(':')) this.pseudoField(name, value);
    else this.regularField(name, value);
  }

  get isTooLarge(): boolean {
    return this.bytes > MAX_HEADER_BYTES || this.count > MAX_FIELDS;
  }

  /** Whether a request may have these fields. */
  get isRequest(): boolean {
    return !this.isMalformed && this.method !== '' && this.scheme !== '' && this.target !== '';
  }

  /** Whether trailers may be these fields. */
  get areTrailers(): boolean {
    const { method, scheme, authority, target } = this;
    return !this.isMalformed && method + scheme + authority + target === '';
  }

  private pseudoField(name: string, value: string): void {
    // They come first, and once.
    if (this.hasRegularField) this.isMalformed = true;
    if (name === ':method') this.method = this.once(this.method, value);
    else if (name === ':path') this.target = this.once(this.target, value);
    else if (name === ':scheme') this.scheme = this.once(this.scheme, value);
    else if (name === ':authority') this.authority = this.once(this.authority, value);
    else this.isMalformed = true;
  }

  private once(before: string, value: string): string {
    if (before !== '' || value === '') this.isMalformed = true;
    return value;
  }

  private regularField(name: string, value: string): void {
    this.hasRegularField = true;
    if (name === 'content-type') this.contentType = value;
    else if (name === 'content-length') this.setLength(value);
    else if (name === 'expect') this.expectsContinue = value.toLowerCase() === '100-continue';
    else if (name === 'te' && value.toLowerCase() !== 'trailers') this.isMalformed = true;
    else if (OF_A_CONNECTION.has(name) || name === '' || /[^!#$%&'*+.^`|~\w-]|[A-Z]/.test(name)) {
      this.isMalformed = true;
    }
  }

  private setLength(value: string): void {
    const length = /^\d{1,9}$/.test(value) ? Number(value) : -1;
    if (length < 0 || (this.contentLength >= 0 && this.contentLength !== length)) {
      this.isMalformed = true;
    }
    this.contentLength = length;
  }
}
