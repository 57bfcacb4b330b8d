import { Injectable } from '@nestjs/common';
import type { Ipv6Words } from '@weir/config-model';
import { ConfigurationReader } from '../../../revisions/configuration-reader.js';
import { ConfigurationWriter } from '../../../revisions/configuration-writer.js';
import { IPV6 } from '../addresses/address-family.js';
import { NetworksService } from './networks.service.js';

@Injectable()
export class Ipv6NetworksService extends NetworksService<Ipv6Words> {
  constructor(reader: ConfigurationReader, writer: ConfigurationWriter) {
    super(IPV6, reader, writer);
  }
}
