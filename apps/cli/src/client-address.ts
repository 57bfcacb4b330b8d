import { isIP } from 'node:net';

/** `192.0.2.1`, `192.0.2.1:4000`, `2001:db8::1` or `[2001:db8::1]:4000`; null: none of these. */
export function parseClient(text: string): { client: string; port?: number } | null {
  if (isIP(text) !== 0) return { client: text };
  const [, bracketed, plain, digits] =
    /^(?:\[([^\]]+)\]|([\d.]+))(?::(\d{1,5}))?$/.exec(text) ?? [];
  const client = bracketed ?? plain ?? '';
  const port = digits === undefined ? undefined : Number(digits);
  const isValid = isIP(client) === (bracketed === undefined ? 4 : 6) && (port ?? 0) <= 65535;
  if (!isValid) return null;
  return port === undefined ? { client } : { client, port };
}
