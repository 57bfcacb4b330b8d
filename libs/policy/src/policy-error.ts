/** A change that a policy cannot apply. Nothing of it was applied; the follower then loads a snapshot. */
export class PolicyError extends Error {
  override readonly name = 'PolicyError';
}
