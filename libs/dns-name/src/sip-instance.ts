import { instantiateSip, Layout } from './sip-module.js';
import { SIP_STATE_WORDS } from './sip-state.js';

/** Labels of the longest name: 255 bytes, each label at least two, the root one (RFC 1035 §2.3.4). */
export const MAX_LABELS = 127;
/** Bytes of the longest message, and of the longest wire name. */
export const MAX_MESSAGE_BYTES = 255;

/** One instance serves all hashers of a thread. Between two calls its memory holds nothing that is still needed. */
const { memory, hashLabels } = instantiateSip();

export { hashLabels };
/** Views of the memory of the instance, see `Layout`. */
export const sipStart = new Int32Array(memory, Layout.start, SIP_STATE_WORDS);
export const sipMessage = new Uint8Array(memory, Layout.message, MAX_MESSAGE_BYTES);
export const sipLabelStarts = new Uint8Array(memory, Layout.labelStarts, MAX_LABELS);
export const sipLabelEnds = new Uint8Array(memory, Layout.labelEnds, MAX_LABELS);
export const sipLow = new Uint32Array(memory, Layout.low, MAX_LABELS);
export const sipHigh = new Uint32Array(memory, Layout.high, MAX_LABELS);
