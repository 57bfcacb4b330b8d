import { hashDomain, type HashKey, normaliseDomain } from '@weir/dns-name';

/** Hashes domains with the key of the deployment. Only the hashes are stored. */
export class DomainHasher {
  constructor(private readonly key: HashKey) {}

  /** @throws DomainError when the text is not a domain name. */
  hash(presentationName: string): number {
    return hashDomain(normaliseDomain(presentationName), this.key);
  }
}
