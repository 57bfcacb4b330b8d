import {
  type AddressWords,
  CidrSet,
  InvalidCidrError,
  WatchedFile,
  type WatchedFileLog,
} from '@weir/ops';

const MAX_FILE_BYTES = 16 * 2 ** 20;

export interface AllowedClientsOptions {
  /** Used without a file. */
  readonly networks: CidrSet;
  /** One network a line; `#` begins a comment. */
  readonly file: string | undefined;
  readonly log: WatchedFileLog;
  /** Interval between checks of the file. */
  readonly checkMs?: number;
  /** Called when a new version of the file is in force. */
  readonly onChange?: (networks: CidrSet) => void;
}

/** The clients that are served without a profile. */
export class AllowedClients {
  private readonly given: CidrSet;
  private readonly file: WatchedFile<CidrSet> | null;

  /** @throws StartError when the file is not usable. */
  constructor({ networks, file, ...options }: AllowedClientsOptions) {
    this.given = networks;
    this.file =
      file === undefined
        ? null
        : new WatchedFile({
            ...options,
            variable: 'DNS_ALLOWED_CLIENTS_FILE',
            file,
            maxBytes: MAX_FILE_BYTES,
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
  return CidrSet.parse(networks);
}
