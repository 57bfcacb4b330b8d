import type { ValueSchema, Variable } from '@weir/ops';
import { type Component, COMPONENTS, isKeptSecret } from '../components.js';
import { object } from './kinds.js';

/** A port must be known, so none is left to the system. Only resolvers may bind one that is kept for root. */
const LOWEST_PORT: Readonly<Record<Component, number>> = {
  controlPlane: 1024,
  resolver: 1,
  blockPage: 1024,
};

/** `env` of a component: each variable of its process that is no secret. */
export function environmentSchema(component: Component): ValueSchema {
  const variables = Object.entries<Variable<unknown>>(COMPONENTS[component].variables);
  return object(
    Object.fromEntries(
      variables
        .filter(([name, variable]) => !isKeptSecret(name, variable))
        .map(([name, variable]) => [name, describe(name, variable, LOWEST_PORT[component])]),
    ),
  );
}

/** `secrets.values`: each variable of any process that is a secret. */
export function secretsSchema(): ValueSchema {
  const variables = Object.values(COMPONENTS).flatMap((component) =>
    Object.entries<Variable<unknown>>(component.variables),
  );
  return object(
    Object.fromEntries(
      variables
        .filter(([name, variable]) => isKeptSecret(name, variable))
        .map(([name, variable]) => [name, describe(name, variable)]),
    ),
  );
}

function describe(
  name: string,
  { description, valueSchema }: Variable<unknown>,
  lowestPort = 0,
): ValueSchema {
  const bounds = name.endsWith('_PORT') ? { minimum: lowestPort } : {};
  return { description, ...valueSchema, ...bounds };
}
