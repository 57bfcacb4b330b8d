import { Injectable } from '@nestjs/common';
import { ConfigurationReader } from '../../../revisions/configuration-reader.js';
import { ConfigurationWriter } from '../../../revisions/configuration-writer.js';
import { IPV4 } from '../addresses/address-family.js';
import { NetworksService } from './networks.service.js';

@Injectable()
export class Ipv4NetworksService extends NetworksService<number> {
  constructor(reader: ConfigurationReader, writer: ConfigurationWriter) {
    super(IPV4, reader, writer);
  }
}
