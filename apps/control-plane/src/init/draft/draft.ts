import { DraftBlockPages } from './draft-block-pages.js';
import { DraftDomainRules } from './draft-domain-rules.js';
import { DraftNapts } from './draft-napts.js';
import { DraftNetworks } from './draft-networks.js';
import { DraftProfiles } from './draft-profiles.js';

/**
 * The submitted configuration in columns of numbers, in the order of the body. It takes a fraction of the memory of its
 * text. The check adds the keys of the rows, by which they can be found afterwards.
 */
export class Draft {
  readonly blockPages = new DraftBlockPages();
  readonly profiles = new DraftProfiles();
  readonly domainRules = new DraftDomainRules();
  readonly napts = new DraftNapts();
  readonly ipv4Networks = DraftNetworks.ofIpv4();
  readonly ipv6Networks = DraftNetworks.ofIpv6();
}
