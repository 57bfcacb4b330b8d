import type { DeleteOperation, Entities, Operation, PutOperation } from '@weir/config-model';

/** A change that a policy cannot apply. Nothing of it was applied; the follower then loads a snapshot. */
export class PolicyError extends Error {
  override readonly name = 'PolicyError';
}

/**
 * Checks what the lookups of a policy need: networks without host bits and ascending lists. The codec of
 * `@weir/config-model` checks the ranges of single values.
 * @throws PolicyError for an operation that a policy cannot apply.
 */
export function checkOperation(
  operation: Operation,
): asserts operation is PutOperation | DeleteOperation {
  if (operation.type === 'reload') {
    throw new PolicyError('a reload is not an operation on a policy: load a snapshot');
  }
  if (operation.kind === 'profile') {
    if (operation.type === 'put') checkProfile(operation.entity);
  } else if (operation.kind === 'ipv4Network') {
    const { address, prefixLength } = operation.type === 'put' ? operation.entity : operation.key;
    checkMasked([address], prefixLength, 'IPv4');
  } else if (operation.kind === 'ipv6Network') {
    const { address, prefixLength } = operation.type === 'put' ? operation.entity : operation.key;
    checkMasked(address, prefixLength, 'IPv6');
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

function checkMasked(words: readonly number[], prefixLength: number, family: string): void {
  const isMasked = words.every((word, i) => {
    const hostBits = Math.min(Math.max((i + 1) * 32 - prefixLength, 0), 32);
    return word % 2 ** hostBits === 0;
  });
  if (!isMasked) throw new PolicyError(`an ${family} network has host bits set`);
}
