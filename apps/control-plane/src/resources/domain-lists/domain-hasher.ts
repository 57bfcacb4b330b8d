import { hashDomain, type HashKey, normaliseDomain } from '@weir/dns-name';

/** From a domain to what is stored of it, under the deployment's key. */
export class DomainHasher {
  constructor(private readonly key: HashKey) {}

  /** @throws DomainError when the text is no domain name. */
  hash(presentationName: string): number {
    return hashDomain(normaliseDomain(presentationName), this.key);
  }
}
