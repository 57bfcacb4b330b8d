import { Type } from '@weir/dns-wire';
import type { LocalName } from '../local-records/local-name.js';

/**
 * A name that has only a CNAME record, to where a blocked category sends it (decisions §7). Reused; allocates nothing.
 */
export class PolicyRewrite {
  private readonly rdatas: Uint8Array[] = [new Uint8Array(0)];
  private readonly link: { owner: null; ttlSeconds: number; target: Uint8Array };
  private readonly rewrite: { links: LinkList; target: Uint8Array; end: null };
  private readonly name: LocalName;

  constructor(ttlSeconds: number) {
    const [target] = this.rdatas;
    this.link = { owner: null, ttlSeconds, target };
    this.rewrite = { links: [this.link], target, end: null };
    const sets = [{ type: Type.cname, ttlSeconds, rdatas: this.rdatas }];
    this.name = { sets, negativeTtlSeconds: ttlSeconds, rewrite: this.rewrite };
  }

  /** The name with that target; valid until the next call. */
  to(target: Uint8Array): LocalName {
    this.rdatas[0] = target;
    this.link.target = target;
    this.rewrite.target = target;
    return this.name;
  }
}

type LinkList = NonNullable<LocalName['rewrite']>['links'];
