import { applyDecorators } from '@nestjs/common/decorators/core/apply-decorators.js';
import {
  DomainError,
  hashDomain,
  type HashKey,
  normaliseDomain,
  SuffixHashes,
  toWireName,
} from '@weir/dns-name';
import { Convert, Rule, type Wrong } from '../../http/validation/rules.js';

const SCHEMA = { type: 'string', format: 'idn-hostname', maxLength: 1024, example: 'example.com' };

/** A domain in any form that `normaliseDomain` accepts. */
export function IsDomain(each?: { each: true }): PropertyDecorator {
  return Rule(wrongDomain, SCHEMA, each);
}

/** A domain, in normal form after validation. */
export function IsNormalisedDomain(): PropertyDecorator {
  return applyDecorators(
    Convert((value) => (wrongDomain(value) === null ? normaliseDomain(value as string) : value)),
    IsDomain(),
  );
}

/** What is wrong with a domain. It never repeats the domain. */
export function wrongDomain(value: unknown): Wrong | null {
  if (typeof value !== 'string') return { msg: 'Must be a domain name', type: 'string_type' };
  try {
    normaliseDomain(value);
    return null;
  } catch (error) {
    if (!(error instanceof DomainError)) throw error;
    return { msg: `Domain ${error.message}`, type: 'value_error' };
  }
}

/** Hashes domains with the key of the deployment. Only the hashes are stored. */
export class DomainHasher {
  constructor(private readonly key: HashKey) {}

  /** @throws DomainError when the text is not a domain name. */
  hash(presentationName: string): number {
    return hashDomain(normaliseDomain(presentationName), this.key);
  }

  /** The hashes of a domain in normal form, and of all above it, as the catalogue has them. */
  suffixes(domain: string): SuffixHashes {
    const hashes = new SuffixHashes(this.key);
    hashes.compute(toWireName(domain), 0);
    return hashes;
  }
}
