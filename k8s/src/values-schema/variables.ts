import type { ValueSchema, Variable } from '@weir/ops';
import { SCHEMA as MIGRATE } from '@weir/tools/migrate/configuration';
import { type Component, COMPONENTS, isInSecret } from '../components.js';
import { object } from './schema-types.js';

/** Port 0 is refused: a Service needs a known port. Only resolvers may bind a port below 1024. */
const LOWEST_PORT: Readonly<Record<Component, number>> = {
  controlPlane: 1024,
  resolver: 1,
  blockPage: 1024,
};

/** DATABASE_URL is described as that of the control plane. */
const OF_MIGRATION = { OWNER_DATABASE_URL: MIGRATE.OWNER_DATABASE_URL };

/** White space, within brackets. `\s` of ECMAScript has more characters than that of RE2, which Helm uses. */
const SPACES = String.raw` \t\n\v\f\r`;

/** Schema of `env` of a component: every variable of its process that is not secret. */
export function environmentSchema(component: Component): ValueSchema {
  const variables = Object.entries<Variable<unknown>>(COMPONENTS[component].variables);
  return object(
    Object.fromEntries(
      variables
        .filter(([name, variable]) => !isInSecret(name, variable))
        .map(([name, variable]) => [name, describe(name, variable, LOWEST_PORT[component])]),
    ),
  );
}

/** Schema of `secrets.values`: every secret variable of any process. */
export function secretsSchema(): ValueSchema {
  const schemas = [...Object.values(COMPONENTS).map(({ variables }) => variables), OF_MIGRATION];
  const variables = schemas.flatMap((schema) => Object.entries<Variable<unknown>>(schema));
  return object(
    Object.fromEntries(
      variables
        .filter(([name, variable]) => isInSecret(name, variable))
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
  return { description, ...withPortablePattern(valueSchema), ...bounds };
}

function withPortablePattern(schema: ValueSchema): ValueSchema {
  const { pattern, items } = schema;
  return {
    ...schema,
    ...(typeof pattern === 'string' && {
      pattern: pattern
        .replaceAll(String.raw`\S`, `[^${SPACES}]`)
        .replaceAll(String.raw`\s`, SPACES),
    }),
    ...(items !== undefined && { items: withPortablePattern(items as ValueSchema) }),
  };
}
