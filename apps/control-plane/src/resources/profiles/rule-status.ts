import { RuleVerdict } from '@weir/config-model';
import { oneOf } from '../../http/validation/checks.js';

/** The verdict of a rule, in the words of the contract. */
export type RuleStatus = keyof typeof RuleVerdict;

export function toStatus(verdict: RuleVerdict): RuleStatus {
  return verdict === RuleVerdict.allow ? 'allow' : 'deny';
}

export const ruleStatus = oneOf(['allow', 'deny']);
