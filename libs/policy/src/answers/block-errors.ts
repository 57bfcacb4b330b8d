import { Ede, type ExtendedError, extendedError } from '@weir/dns-wire';
import type { CatalogueIndex, Purpose } from '../catalogue-index.js';
import { type Decision, Reason } from '../decision.js';
import type { PolicySource, QueryPolicy } from '../policy-source.js';

/** Who filters, as structured errors say it. */
export interface FilteringProvider {
  readonly name: string | undefined;
  /** URIs by which the subscriber reaches the provider. */
  readonly contacts: readonly string[];
}

export interface BlockErrorsOptions {
  /** Of the policy that has made the decision. */
  readonly source: PolicySource<QueryPolicy>;
  /** False: no error has an EXTRA-TEXT. */
  readonly hasText: boolean;
  readonly provider: FilteringProvider;
}

/** The sub-error codes of draft-ietf-dnsop-structured-dns-error that a resolver sends. */
const MALWARE = 1;

/** An error for clients that read EXTRA-TEXT as text, and for those that read it as JSON. */
interface Cause {
  readonly plain: ExtendedError;
  readonly structured: ExtendedError;
}

/**
 * Why a name is blocked, as an Extended DNS Error tells clients (decisions §16): never the name itself. Each error is
 * encoded once for each catalogue, when it is first needed. Otherwise allocates nothing.
 */
export class BlockErrors {
  private catalogue: CatalogueIndex | null = null;
  private readonly categories = new Map<number, Cause>();
  private readonly applications = new Map<number, Cause>();
  private readonly denyList: Cause;
  private readonly allowListOnly: Cause;

  constructor(private readonly options: BlockErrorsOptions) {
    this.denyList = this.causeOf(Ede.filtered, 'deny list');
    this.allowListOnly = this.causeOf(Ede.filtered, 'allow list only');
  }

  /** The error for a decision to block. It is valid until the next one. */
  of(decision: Decision, isStructured: boolean): ExtendedError {
    const cause = this.find(decision);
    return isStructured ? cause.structured : cause.plain;
  }

  private find({ reason, matchedId }: Decision): Cause {
    this.forgetOldCatalogue();
    switch (reason) {
      case Reason.category:
        return this.categories.get(matchedId) ?? this.addCategory(matchedId);
      case Reason.applicationRule:
        return this.applications.get(matchedId) ?? this.addApplication(matchedId);
      case Reason.whiteListOnly:
        return this.allowListOnly;
      default:
        return this.denyList;
    }
  }

  private forgetOldCatalogue(): void {
    const { policy } = this.options.source;
    const catalogue = policy === null ? null : policy.catalogue;
    if (catalogue === this.catalogue) return;
    this.catalogue = catalogue;
    this.categories.clear();
    this.applications.clear();
  }

  private addCategory(id: number): Cause {
    const { name = String(id), purpose = 'other' } = this.catalogue?.category(id) ?? {};
    const cause = this.causeOf(codeOf(purpose), `category ${name}`, purpose);
    this.categories.set(id, cause);
    return cause;
  }

  private addApplication(id: number): Cause {
    const name = this.catalogue?.applicationName(id) ?? String(id);
    const cause = this.causeOf(Ede.filtered, `application ${name}`);
    this.applications.set(id, cause);
    return cause;
  }

  private causeOf(code: number, text: string, purpose: Purpose = 'other'): Cause {
    const { hasText, provider } = this.options;
    if (!hasText) return { plain: extendedError(code), structured: extendedError(code) };
    const json = {
      c: provider.contacts.length === 0 ? undefined : provider.contacts,
      j: text,
      s: purpose === 'security' ? MALWARE : undefined,
      o: provider.name,
      l: 'en',
    };
    return {
      plain: extendedError(code, text),
      structured: extendedError(code, JSON.stringify(json)),
    };
  }
}

function codeOf(purpose: Purpose): number {
  return purpose === 'security' ? Ede.blocked : Ede.filtered;
}
