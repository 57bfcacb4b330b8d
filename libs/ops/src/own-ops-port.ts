const EVERY_ADDRESS: Readonly<Record<string, string>> = {
  '0.0.0.0': '127.0.0.1',
  '::': '127.0.0.1',
};

/** Where to reach the ops port of the process in the same container, from its variables. */
export function ownOpsPort(environment: Readonly<Record<string, string | undefined>>): {
  readonly host: string;
  readonly port: string;
} {
  const host = environment['OPS_HOST']?.trim() || '127.0.0.1';
  const port = environment['OPS_PORT']?.trim() || '9090';
  return { host: EVERY_ADDRESS[host] ?? host, port };
}
