/** A change that a policy cannot take: nothing of it was applied. The follower then loads a snapshot. */
export class PolicyError extends Error {
  override readonly name = 'PolicyError';
}
