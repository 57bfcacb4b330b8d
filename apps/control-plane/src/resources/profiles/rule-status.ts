import { RuleVerdict } from '@weir/config-model';
import { oneOf } from '../../http/validation/checks.js';

/** What an explicit rule says, in the contract's words. */
export type RuleStatus = keyof typeof RuleVerdict;

export function toStatus(verdict: RuleVerdict): RuleStatus {
  return verdict === RuleVerdict.allow ? 'allow' : 'deny';
}

export const ruleStatus = oneOf(['allow', 'deny']);
