import {
  type CidrSet,
  parseCidrs,
  InvalidCidrError,
  type Watched,
  type WatchedFilesLog,
  watchFile,
} from '@weir/ops';
import type { HashKey } from '@weir/dns-name';
import { readRecords } from './local-records/read-records.js';
import { LocalRecords } from '@weir/policy/answers';
import type { DnsConfiguration } from './configuration.js';
import type { LaneFiles } from './lanes/lane-task.js';

const MAX_NETWORKS_BYTES = 16 * 2 ** 20;
/** Enough for `MAX_RECORDS`. */
const MAX_RECORDS_BYTES = 2 ** 18;

/** @throws InvalidCidrError when there is something other than networks */
function parseNetworks(text: string): CidrSet {
  const lines = text.split('\n').map((line) => line.replace(/#.*/, '').trim());
  const networks = lines.filter((line) => line !== '');
  // An empty file is rather one that is being written than a wish to refuse everybody.
  if (networks.length === 0) throw new InvalidCidrError('no network');
  return parseCidrs(networks);
}

export interface OperatorFilesOptions {
  readonly configuration: Pick<
    DnsConfiguration,
    'DNS_ALLOWED_CLIENTS' | 'DNS_ALLOWED_CLIENTS_FILE' | 'LOCAL_RECORDS'
  >;
  readonly hashKey: HashKey;
  /** Interval between checks of the files, in milliseconds. */
  readonly checkMs: number | undefined;
  readonly onChange: (files: LaneFiles) => void;
  readonly log: WatchedFilesLog;
}

/** The files that an operator may change while the resolver runs. */
export class OperatorFiles {
  /** The clients that are served without a profile. */
  readonly allowedClients: Watched<CidrSet>;
  readonly localRecords: Watched<LocalRecords>;

  /** @throws StartError when a file is not usable */
  constructor({ configuration, hashKey, onChange, ...options }: OperatorFilesOptions) {
    this.allowedClients = watchFile({
      ...options,
      variable: 'DNS_ALLOWED_CLIENTS_FILE',
      path: configuration.DNS_ALLOWED_CLIENTS_FILE,
      fixed: configuration.DNS_ALLOWED_CLIENTS,
      maxBytes: MAX_NETWORKS_BYTES,
      parse: parseNetworks,
      content: 'the allowed clients',
      onChange: (allowedClients) => onChange({ allowedClients }),
    });
    this.localRecords = watchFile({
      ...options,
      variable: 'LOCAL_RECORDS',
      path: configuration.LOCAL_RECORDS,
      fixed: LocalRecords.none,
      maxBytes: MAX_RECORDS_BYTES,
      parse: (text) => LocalRecords.of(readRecords(text), hashKey),
      content: 'the local records',
      onChange: ({ list }) => onChange({ localRecords: list }),
    });
  }

  /** What they have now. */
  get forLanes(): LaneFiles {
    return {
      allowedClients: this.allowedClients.value,
      localRecords: this.localRecords.value.list,
    };
  }

  close(): void {
    this.allowedClients.close();
    this.localRecords.close();
  }
}
