import { MAX_ORDER_TEXT } from '@weir/config-model';
import { Ede, type ExtendedError, extendedError } from '@weir/dns-wire';
import type { CatalogueIndex, Purpose } from '../catalogue-index.js';
import { type Decision, Reason } from '../decision.js';
import type { PolicySource } from '../policy-reader.js';

/** Who filters, as structured errors say it. */
interface FilteringProvider {
  readonly name: string | undefined;
  /** URIs by which the subscriber reaches the provider. */
  readonly contacts: readonly string[];
}

export interface BlockErrorsOptions {
  /** Of the policy that has made the decision. */
  readonly source: PolicySource;
  /** False: no error has an EXTRA-TEXT. */
  readonly hasText: boolean;
  readonly provider: FilteringProvider;
}

/** The sub-error codes of draft-ietf-dnsop-structured-dns-error that a resolver sends. */
const SubError = { malware: 1, networkOperatorPolicy: 5 } as const;

/** An error for clients that read EXTRA-TEXT as text, and for those that read it as JSON. */
interface Cause {
  readonly plain: ExtendedError;
  readonly structured: ExtendedError;
}

/**
 * Why a name is blocked, as an Extended DNS Error tells clients (decisions §16): never the name itself. Each error is
 * encoded once for each catalogue, when it is first needed; that of an order is put together for each answer. Otherwise
 * allocates nothing.
 */
export class BlockErrors {
  private catalogue: CatalogueIndex | null = null;
  /** By the reason, then by the category or the application. */
  private readonly causes = new Map<Reason, Map<number, Cause>>();
  private readonly order: { readonly plain: OrderError; readonly structured: OrderError } | null;

  constructor(private readonly options: BlockErrorsOptions) {
    const text = `order ${REFERENCE}`;
    this.order = options.hasText
      ? {
          plain: new OrderError(text, false),
          structured: new OrderError(this.json(Ede.censored, text, 'legal'), true),
        }
      : null;
  }

  /** The error for a decision to block. It is valid until the next one. */
  of(decision: Decision, isStructured: boolean): ExtendedError {
    if (decision.reason === Reason.order) return this.ofOrder(decision, isStructured);
    const cause = this.find(decision);
    return isStructured ? cause.structured : cause.plain;
  }

  /** Whether a secret category has decided: nobody is told its names (decisions §14). */
  isOfSecret({ reason, matchedId }: Decision): boolean {
    if (reason !== Reason.mandatoryCategory) return false;
    const { policy } = this.options.source;
    return policy?.catalogue?.category(matchedId)?.secret === true;
  }

  private ofOrder({ orderNumber }: Decision, isStructured: boolean): ExtendedError {
    const { order, options } = this;
    const { policy } = options.source;
    if (order === null || policy === null) return CENSORED;
    const error = isStructured ? order.structured : order.plain;
    const length = policy.orders.copyReference(orderNumber, error.reference, 0);
    error.setReference(length);
    return error;
  }

  private find({ reason, matchedId }: Decision): Cause {
    this.forgetOldCatalogue();
    const known = this.causes.get(reason)?.get(matchedId);
    if (known !== undefined) return known;
    const cause = this.causeFor(reason, matchedId);
    this.causes.getOrInsert(reason, new Map()).set(matchedId, cause);
    return cause;
  }

  private forgetOldCatalogue(): void {
    const { policy } = this.options.source;
    const catalogue = policy === null ? null : policy.catalogue;
    if (catalogue === this.catalogue) return;
    this.catalogue = catalogue;
    this.causes.clear();
  }

  private causeFor(reason: Reason, id: number): Cause {
    switch (reason) {
      case Reason.mandatoryCategory: {
        const { name = id, purpose = 'other', secret } = this.catalogue?.category(id) ?? {};
        const code = purpose === 'legal' ? Ede.censored : Ede.blocked;
        // Nothing is said of a secret one.
        return this.causeOf(code, secret ? null : `category ${name}`, purpose);
      }
      case Reason.category: {
        const { name = id, purpose = 'other' } = this.catalogue?.category(id) ?? {};
        const code = purpose === 'security' ? Ede.blocked : Ede.filtered;
        return this.causeOf(code, `category ${name}`, purpose);
      }
      case Reason.applicationRule: {
        const application = this.catalogue?.applicationName(id) ?? id;
        return this.causeOf(Ede.filtered, `application ${application}`);
      }
      case Reason.grant:
        return this.causeOf(Ede.filtered, 'grant');
      case Reason.whiteListOnly:
        return this.causeOf(Ede.filtered, 'allow list only');
      default:
        return this.causeOf(Ede.filtered, 'deny list');
    }
  }

  private causeOf(code: number, text: string | null, purpose: Purpose = 'other'): Cause {
    if (text === null || !this.options.hasText) {
      const error = extendedError(code);
      return { plain: error, structured: error };
    }
    return {
      plain: extendedError(code, text),
      structured: extendedError(code, this.json(code, text, purpose)),
    };
  }

  private json(code: number, text: string, purpose: Purpose): string {
    const { name, contacts } = this.options.provider;
    return JSON.stringify({
      c: contacts.length === 0 ? undefined : contacts,
      j: text,
      s: subErrorOf(code, purpose),
      o: name,
      l: 'en',
    });
  }
}

const CENSORED = extendedError(Ede.censored);

/** Of the draft no sub-error goes with Censored, and none but those of security with Filtered. */
function subErrorOf(code: number, purpose: Purpose): number | undefined {
  if (code === Ede.censored) return undefined;
  if (purpose === 'security') return SubError.malware;
  return code === Ede.blocked ? SubError.networkOperatorPolicy : undefined;
}

/** Stands for the reference of an order in the text around it. No text has this character. */
const REFERENCE = '\u{10ffff}';
const MAX_REFERENCE_BYTES = 4 * MAX_ORDER_TEXT;

const encoder = new TextEncoder();
const [QUOTE, BACKSLASH] = encoder.encode('"\\');
const FIRST_PRINTABLE = 0x20;
const UNICODE_ESCAPE = encoder.encode('\\u00');
const HEX_DIGITS = encoder.encode('0123456789abcdef');

/** The error of an order. The text around its reference is always the same. */
class OrderError implements ExtendedError {
  readonly code = Ede.censored;
  readonly text: Uint8Array;
  textBytes = 0;
  /** Room for the reference in UTF-8. */
  readonly reference = new Uint8Array(MAX_REFERENCE_BYTES);
  private readonly before: number;
  private readonly after: Uint8Array;

  constructor(
    text: string,
    private readonly isJson: boolean,
  ) {
    const [before, after] = text.split(REFERENCE).map((part) => encoder.encode(part));
    this.before = before.length;
    this.after = after;
    // JSON writes a control character as \u00xx.
    this.text = new Uint8Array(before.length + 6 * MAX_REFERENCE_BYTES + after.length);
    this.text.set(before);
  }

  /** Takes over the first `length` bytes of `reference`. */
  setReference(length: number): void {
    const { text, reference, after, isJson } = this;
    let at = this.before;
    for (let i = 0; i < length; i++) {
      const byte = reference[i];
      if (isJson && byte < FIRST_PRINTABLE) {
        at = append(text, at, UNICODE_ESCAPE);
        text[at++] = HEX_DIGITS[byte >> 4];
        text[at++] = HEX_DIGITS[byte & 15];
      } else {
        if (isJson && (byte === QUOTE || byte === BACKSLASH)) text[at++] = BACKSLASH;
        text[at++] = byte;
      }
    }
    this.textBytes = append(text, at, after);
  }
}

function append(out: Uint8Array, at: number, bytes: Uint8Array): number {
  for (let i = 0; i < bytes.length; i++) out[at + i] = bytes[i];
  return at + bytes.length;
}
