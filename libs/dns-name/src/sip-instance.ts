import { instantiateSip, Layout } from './sip-module.js';
import { SIP_STATE_WORDS } from './sip-state.js';

/** Labels of the longest name: 255 bytes, each label at least two, the root one (RFC 1035 §2.3.4). */
export const MAX_LABELS = 127;
/** Bytes of the longest message, and of the longest wire name. */
export const MAX_MESSAGE_BYTES = 255;

const { memory, hashLabels } = instantiateSip();

/**
 * One instance for all hashers of a thread: its function and views of its memory, see `Layout`. Between two calls the
 * memory holds nothing that is still needed. Take the views into constants of the module that uses them: a constant of
 * another module costs a query a tenth more time for the hash.
 */
export const sip = {
  hashLabels,
  start: new Int32Array(memory, Layout.start, SIP_STATE_WORDS),
  message: new Uint8Array(memory, Layout.message, MAX_MESSAGE_BYTES),
  labelStarts: new Uint8Array(memory, Layout.labelStarts, MAX_LABELS),
  labelEnds: new Uint8Array(memory, Layout.labelEnds, MAX_LABELS),
  low: new Uint32Array(memory, Layout.low, MAX_LABELS),
  high: new Uint32Array(memory, Layout.high, MAX_LABELS),
} as const;
