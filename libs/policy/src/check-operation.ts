import type { Entities, EntityKeys, Ipv6Words, Operation } from '@weir/config-model';

/** A change that a policy cannot apply. Nothing of it was applied; the follower then loads a snapshot. */
export class PolicyError extends Error {
  override readonly name = 'PolicyError';
}

/**
 * Checks what the lookups of a policy need: networks without host bits and ascending lists. The codec of
 * `@weir/config-model` checks the ranges of single values.
 * @throws PolicyError for an operation that a policy cannot apply.
 */
export function checkOperation(operation: Operation): void {
  if (operation.type === 'reload') {
    throw new PolicyError('a reload is not an operation on a policy: load a snapshot');
  }
  switch (operation.kind) {
    case 'profile':
      if (operation.type === 'put') checkProfile(operation.entity);
      return;
    case 'ipv4Network':
      checkIpv4(operation.type === 'put' ? operation.entity : operation.key);
      return;
    case 'ipv6Network':
      checkIpv6(operation.type === 'put' ? operation.entity : operation.key);
      return;
    case 'blockPage':
    case 'domainRule':
    case 'naptAssignment':
    case 'schedule':
    case 'catalogue':
    case 'order':
    case 'grant':
      return;
  }
}

function checkProfile({ id, categoryIds, applicationRules }: Entities['profile']): void {
  const applicationIds = applicationRules.map((rule) => rule.applicationId);
  if (!isAscending(categoryIds) || !isAscending(applicationIds)) {
    throw new PolicyError(`profile ${id}: categories and applications must be ascending`);
  }
}

function isAscending(ids: readonly number[]): boolean {
  return ids.every((id, i) => i === 0 || ids[i - 1] < id);
}

function checkIpv4({ address, prefixLength }: EntityKeys['ipv4Network']): void {
  if (!isMasked(address, prefixLength)) throw new PolicyError('an IPv4 network has host bits set');
}

function checkIpv6({ address, prefixLength }: EntityKeys['ipv6Network']): void {
  const masked = (address satisfies Ipv6Words).every((word, i) =>
    isMasked(word, Math.min(Math.max(prefixLength - i * 32, 0), 32)),
  );
  if (!masked) throw new PolicyError('an IPv6 network has host bits set');
}

function isMasked(word: number, bits: number): boolean {
  return bits === 32 || (word & (0xffff_ffff >>> bits)) === 0;
}
