import { throwIfFaults } from '../validation/fault.js';
import {
  readRequest,
  type RequestShape,
  type SentBody,
  type SentRequest,
} from '../routing/request-shape.js';
import { UNDECODABLE } from './repair-url.js';

/** What a client sent. Path and body are validated together, so that all faults are reported at once. */
export class UncheckedRequest {
  private read: ReturnType<typeof readRequest> | undefined;
  private readonly sent: SentRequest;

  /** @param params of Express, decoded. */
  constructor(
    private readonly shape: RequestShape,
    params: unknown,
    body: SentBody,
  ) {
    const parts = Object.entries(params as Readonly<Record<string, string>>);
    const decoded = parts.map(([name, part]) => [name, part === UNDECODABLE ? null : part]);
    this.sent = { pathParts: Object.fromEntries(decoded) as SentRequest['pathParts'], body };
  }

  /** @throws InvalidRequestError with the faults of both. */
  check(): { readonly path: unknown; readonly body: unknown } {
    this.read ??= readRequest(this.shape, this.sent);
    throwIfFaults(this.read.faults);
    return this.read;
  }
}
