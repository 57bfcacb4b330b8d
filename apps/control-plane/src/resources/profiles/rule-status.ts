import { RuleVerdict } from '@weir/config-model';
import { IsOneOf } from '../../http/validation/rules.js';

/** The verdict of a rule, in the words of the contract. */
export type RuleStatus = keyof typeof RuleVerdict;

export function toStatus(verdict: RuleVerdict): RuleStatus {
  return verdict === RuleVerdict.allow ? 'allow' : 'deny';
}

export const IsRuleStatus = (): PropertyDecorator => IsOneOf(['allow', 'deny']);
