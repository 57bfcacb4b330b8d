import { MAX_ID } from '@weir/config-model';
import { MAX_ADDRESSES } from '@weir/dns-wire';
import { type ValueSchema, VariableFault } from '@weir/ops';
import { isIP, isIPv4 } from 'node:net';

export const PAGE_ADDRESSES: ValueSchema = {
  type: 'object',
  additionalProperties: false,
  patternProperties: {
    '^(?:0|[1-9][0-9]{0,9})$': {
      type: 'array',
      items: { type: 'string', pattern: '^[0-9a-fA-F:.]+$' },
      minItems: 1,
      maxItems: 2 * MAX_ADDRESSES,
    },
  },
};

/** @throws VariableFault */
export function readPageAddresses(value: unknown): ReadonlyMap<number, readonly string[]> {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) {
    throw new VariableFault();
  }
  return new Map(
    Object.entries(value).map(([id, addresses]) => [readPageId(id), readAddresses(id, addresses)]),
  );
}

function readPageId(text: string): number {
  const id = /^(0|[1-9]\d{0,9})$/.test(text) ? Number(text) : Number.NaN;
  if (!(id <= MAX_ID)) throw new VariableFault(`"${text.slice(0, 20)}" is not a block page id`);
  return id;
}

function readAddresses(id: string, value: unknown): readonly string[] {
  const isAddress = (one: unknown): one is string =>
    typeof one === 'string' && isIP(one) !== 0 && !one.includes('%');
  if (!Array.isArray(value) || value.length === 0 || !value.every(isAddress)) {
    throw new VariableFault(`page ${id} needs a list of addresses`);
  }
  const ipv4Count = value.filter((one) => isIPv4(one)).length;
  if (Math.max(ipv4Count, value.length - ipv4Count) > MAX_ADDRESSES) {
    throw new VariableFault(`page ${id} has more than ${MAX_ADDRESSES} addresses of one family`);
  }
  return value;
}
