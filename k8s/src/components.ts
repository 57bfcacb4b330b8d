import { SCHEMA as BLOCK_PAGE } from '@weir/block-page/configuration';
import { SCHEMA as CONTROL_PLANE } from '@weir/control-plane/configuration';
import type { Variable, VariableSchema } from '@weir/ops';
import { SCHEMA as RESOLVER } from '@weir/resolver/configuration';

/** The processes that the chart runs: key in values.yaml → name in the cluster, and variables of the process. */
export const COMPONENTS = {
  controlPlane: { name: 'control-plane', variables: CONTROL_PLANE as VariableSchema },
  resolver: { name: 'resolver', variables: RESOLVER as VariableSchema },
  blockPage: { name: 'block-page', variables: BLOCK_PAGE as VariableSchema },
} as const;

export type Component = keyof typeof COMPONENTS;

/** URLs are secret because they may contain a password. FEED_URL never does: its secret is FEED_TOKENS. */
const OPEN_URLS: readonly string[] = ['FEED_URL'];

/** Whether the chart keeps the variable in a Secret. */
export function isInSecret(name: string, variable: Variable<unknown>): boolean {
  return variable.secret && !OPEN_URLS.includes(name);
}

export function isRequired(variable: Variable<unknown>): boolean {
  const { default: value, absent, replacedBy } = variable;
  return value === undefined && absent === undefined && replacedBy === undefined;
}

/** For each component the variables that are in the Secret: name → whether the variable is required. */
export function secretVariables(): Record<string, Record<string, boolean>> {
  const all = Object.entries(COMPONENTS).map(([component, { variables }]) => {
    const secrets = Object.entries(variables).filter((one) => isInSecret(...one));
    const areRequired = secrets.map(([name, variable]) => [name, isRequired(variable)] as const);
    return [component, Object.fromEntries(areRequired)] as const;
  });
  return Object.fromEntries(all);
}
