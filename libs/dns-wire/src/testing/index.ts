export * from './decode.js';
export * from './message.js';
