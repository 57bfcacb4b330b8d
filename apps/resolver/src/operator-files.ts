import type { HashKey } from '@weir/dns-name';
import { WatchedFile, type WatchedFileLog, type WatchedFileOptions } from '@weir/ops';
import { readRecords } from './local-records/read-records.js';
import { LocalRecords } from '@weir/policy/answers';
import type { DnsConfiguration } from './configuration.js';
import type { LaneFiles } from './lanes/lane-task.js';
import { AllowedClients } from './limits/allowed-clients.js';

/** Enough for `MAX_RECORDS`. */
const MAX_FILE_BYTES = 2 ** 18;

/** Opens the file of `LOCAL_RECORDS`. @throws StartError when it is not usable. */
function openLocalRecords(
  file: string,
  key: HashKey,
  options: Pick<WatchedFileOptions<LocalRecords>, 'log' | 'checkMs' | 'onChange'>,
): WatchedFile<LocalRecords> {
  return new WatchedFile({
    variable: 'LOCAL_RECORDS',
    file,
    maxBytes: MAX_FILE_BYTES,
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
  readonly log: WatchedFileLog;
}

/** The files that an operator may change while the resolver runs. */
export class OperatorFiles {
  readonly allowedClients: AllowedClients;
  /** Null: there is no file of local records. */
  readonly localRecords: WatchedFile<LocalRecords> | null;

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
