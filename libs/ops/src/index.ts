export * from './cidr-set.js';
export * from './log.js';
export * from './ops-server.js';
export * from './process.js';
export * from './reference.js';
export * from './tls-files.js';
export * from './variable.js';
export * from './variable-kinds.js';
