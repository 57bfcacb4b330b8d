export * from './bearer-tokens.js';
export * from './cidr-set.js';
export {
  DEPLOYMENT_VARIABLES,
  INCIDENT_VARIABLES,
  openDeployment,
  type OpenDeployment,
} from './deployment.js';
export { findFreePort } from './free-port.js';
export * from './log.js';
export * from './ops-variables.js';
export * from './parse-cidrs.js';
export { parseDate, parseTime } from './parse-time.js';
export * from './process.js';
export * from './replaceable-file.js';
export * from './start-error.js';
export * from './stopping.js';
export * from './tls/tls-files.js';
export { publicKeyPin } from './tls/public-key-pin.js';
export { openTlsAgent } from './tls/tls-agent.js';
export * from './tls/tls-identity.js';
export * from './variables/index.js';
export * from './version.js';
export * from './watched-files.js';
