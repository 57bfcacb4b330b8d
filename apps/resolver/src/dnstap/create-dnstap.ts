import { readVersion } from '@weir/ops';
import type { DnsConfiguration } from '../configuration.js';
import { Dnstap } from './dnstap.js';
import type { FrameSender } from './frame-sender.js';

export function createDnstap(
  configuration: DnsConfiguration,
  sender: FrameSender,
  nowMs: () => number,
): Dnstap {
  return new Dnstap({
    sender,
    sampling: configuration.DNSTAP_SAMPLING,
    showNames: configuration.DNSTAP_NAMES,
    showAddresses: configuration.DNSTAP_ADDRESSES,
    identity: configuration.DNS_SERVER_ID,
    version: `weir ${readVersion(new URL('../../../../package.json', import.meta.url), {})}`,
    nowMs,
  });
}
