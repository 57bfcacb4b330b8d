import type { BlockPage, NaptAssignment } from '@weir/config-model';
import { Column } from './column.js';
import { DraftDomainRules } from './draft-domain-rules.js';
import { DraftNetworks } from './draft-networks.js';
import { DraftProfiles } from './draft-profiles.js';
import { KeyIndex } from './row-index.js';

class DraftNapts {
  readonly addresses = Column.uint32();
  private readonly lowerPorts = Column.int32();
  private readonly upperPorts = Column.int32();
  readonly profileIds = Column.int32();
  readonly keys = new KeyIndex([this.addresses, this.lowerPorts, this.upperPorts]);

  add(assignment: NaptAssignment): void {
    this.addresses.push(assignment.address);
    this.lowerPorts.push(assignment.lowerPort);
    this.upperPorts.push(assignment.upperPort);
    this.profileIds.push(assignment.profileId);
  }

  at(row: number): NaptAssignment {
    return {
      address: this.addresses.at(row),
      lowerPort: this.lowerPorts.at(row),
      upperPort: this.upperPorts.at(row),
      profileId: this.profileIds.at(row),
    };
  }
}

class DraftBlockPages {
  private readonly types = Column.int32();
  readonly ids = Column.int32();
  readonly keys = new KeyIndex([this.ids]);

  add({ id, type }: BlockPage): void {
    this.ids.push(id);
    this.types.push(type);
  }

  at(row: number): BlockPage {
    return { id: this.ids.at(row), type: this.types.at(row) };
  }
}

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
