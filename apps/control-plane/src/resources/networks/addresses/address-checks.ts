import { IsInteger, IsText } from '../../../http/validation/rules.js';
import { parseIpv4, parseIpv6 } from './addresses.js';

export const LAST_PORT = 65535;

export function IsPort(): PropertyDecorator {
  return IsInteger(0, LAST_PORT);
}

export function isPort(value: unknown): value is number {
  return Number.isInteger(value) && (value as number) >= 0 && (value as number) <= LAST_PORT;
}

/** Not `IsIP` of class-validator: an address is valid exactly when it is the one that is stored afterwards. */
export function IsIpv4(): PropertyDecorator {
  return IsText(
    'an IPv4 address of four decimal parts without leading zeros',
    (text) => parseIpv4(text) !== null,
    { format: 'ipv4', example: '192.0.2.0' },
  );
}

export function IsIpv6(): PropertyDecorator {
  return IsText(
    'an IPv6 address without zone, and not an IPv4-mapped one',
    (text) => parseIpv6(text) !== null,
    { format: 'ipv6', example: '2001:db8::' },
  );
}

/** Largest int_ip: an IPv4 address as an unsigned 32-bit integer. */
export const MAX_INT_IP = 0xffff_ffff;
