export * from './codec.js';
export * from './digest.js';
export * from './entities.js';
export { FlatRows } from './flat-rows.js';
export * from './rows.js';
export { RowsParser } from './rows-parser.js';
