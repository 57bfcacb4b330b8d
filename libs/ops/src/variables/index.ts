export { type Endpoint, showUpstream, type TlsPeer, type UpstreamEndpoint } from './endpoint.js';
export * from './kinds.js';
export * from './network-kinds.js';
export {
  type Configuration,
  defineVariable,
  needs,
  optional,
  parseVariables,
  renderHelp,
  renderReference,
  replacedBy,
  type ValueSchema,
  type Variable,
  VariableError,
  VariableFault,
  type VariableOptions,
  type VariableSchema,
} from './variable.js';
