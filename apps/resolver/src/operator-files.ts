import {
  type AddressWords,
  type CidrSet,
  parseCidrs,
  InvalidCidrError,
  WatchedFiles,
  type WatchedFilesLog,
  type WatchedFilesOptions,
} from '@weir/ops';
import type { HashKey } from '@weir/dns-name';
import { readRecords } from './local-records/read-records.js';
import { LocalRecords } from '@weir/policy/answers';
import type { DnsConfiguration } from './configuration.js';
import type { LaneFiles } from './lanes/lane-task.js';

const MAX_NETWORKS_BYTES = 16 * 2 ** 20;

export interface AllowedClientsOptions {
  /** Used without a file. */
  readonly networks: CidrSet;
  /** One network a line; `#` begins a comment. */
  readonly file: string | undefined;
  readonly log: WatchedFilesLog;
  /** Interval between checks of the file. */
  readonly checkMs?: number;
  /** Called when a new version of the file is in force. */
  readonly onChange?: (networks: CidrSet) => void;
}

/** The clients that are served without a profile. */
export class AllowedClients {
  private readonly given: CidrSet;
  private readonly file: WatchedFiles<CidrSet> | null;

  /** @throws StartError when the file is not usable. */
  constructor({ networks, file, ...options }: AllowedClientsOptions) {
    this.given = networks;
    this.file =
      file === undefined
        ? null
        : new WatchedFiles({
            ...options,
            files: [{ variable: 'DNS_ALLOWED_CLIENTS_FILE', path: file }],
            maxBytes: MAX_NETWORKS_BYTES,
            parse: parseNetworks,
            content: 'the allowed clients',
          });
  }

  /** Number of checks at which the file was not usable. */
  get faults(): number {
    return this.file?.faults ?? 0;
  }

  has(client: AddressWords): boolean {
    return this.networks.has(client);
  }

  get networks(): CidrSet {
    return this.file?.value ?? this.given;
  }

  close(): void {
    this.file?.close();
  }
}

/** @throws InvalidCidrError when there is something other than networks */
function parseNetworks(text: string): CidrSet {
  const lines = text.split('\n').map((line) => line.replace(/#.*/, '').trim());
  const networks = lines.filter((line) => line !== '');
  // An empty file is rather one that is being written than a wish to refuse everybody.
  if (networks.length === 0) throw new InvalidCidrError('no network');
  return parseCidrs(networks);
}

/** Enough for `MAX_RECORDS`. */
const MAX_RECORDS_BYTES = 2 ** 18;

/** Opens the file of `LOCAL_RECORDS`. @throws StartError when it is not usable. */
function openLocalRecords(
  file: string,
  key: HashKey,
  options: Pick<WatchedFilesOptions<LocalRecords>, 'log' | 'checkMs' | 'onChange'>,
): WatchedFiles<LocalRecords> {
  return new WatchedFiles({
    files: [{ variable: 'LOCAL_RECORDS', path: file }],
    maxBytes: MAX_RECORDS_BYTES,
    parse: (text) => LocalRecords.of(readRecords(text), key),
    content: 'the local records',
    ...options,
  });
}

export interface OperatorFilesOptions {
  readonly configuration: Pick<
    DnsConfiguration,
    'DNS_ALLOWED_CLIENTS' | 'DNS_ALLOWED_CLIENTS_FILE' | 'LOCAL_RECORDS'
  >;
  readonly hashKey: HashKey;
  /** Interval between checks of the file of local records, in milliseconds. */
  readonly checkMs: number | undefined;
  /** Called with what has changed. */
  readonly onChange: (files: LaneFiles) => void;
  readonly log: WatchedFilesLog;
}

/** The files that an operator may change while the resolver runs. */
export class OperatorFiles {
  readonly allowedClients: AllowedClients;
  /** Null: there is no file of local records. */
  readonly localRecords: WatchedFiles<LocalRecords> | null;

  /** @throws StartError when a file is not usable */
  constructor({ configuration, hashKey, checkMs, onChange, log }: OperatorFilesOptions) {
    this.allowedClients = new AllowedClients({
      networks: configuration.DNS_ALLOWED_CLIENTS,
      file: configuration.DNS_ALLOWED_CLIENTS_FILE,
      log,
      onChange: (allowedClients) => {
        onChange({ allowedClients });
      },
    });
    const { LOCAL_RECORDS: file } = configuration;
    const options = {
      log,
      onChange: ({ list }: LocalRecords) => {
        onChange({ localRecords: list });
      },
      ...(checkMs !== undefined && { checkMs }),
    };
    this.localRecords = file === undefined ? null : openLocalRecords(file, hashKey, options);
  }

  /** What they have now. */
  get forLanes(): LaneFiles {
    const { allowedClients, localRecords } = this;
    return {
      allowedClients: allowedClients.networks,
      ...(localRecords && { localRecords: localRecords.value.list }),
    };
  }

  close(): void {
    this.allowedClients.close();
    this.localRecords?.close();
  }
}
