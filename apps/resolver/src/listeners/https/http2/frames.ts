/** RFC 9113 §6. */
export const FrameType = {
  data: 0,
  headers: 1,
  priority: 2,
  rstStream: 3,
  settings: 4,
  pushPromise: 5,
  ping: 6,
  goaway: 7,
  windowUpdate: 8,
  continuation: 9,
} as const;

/** A bit has one meaning for each type of frame. */
export const Flag = { endStream: 1, ack: 1, endHeaders: 4, padded: 8, priority: 32 } as const;

/** RFC 9113 §7. */
export const ErrorCode = {
  noError: 0,
  protocol: 1,
  flowControl: 3,
  streamClosed: 5,
  frameSize: 6,
  refusedStream: 7,
  cancel: 8,
  compression: 9,
  enhanceYourCalm: 11,
} as const;
export type ErrorCode = (typeof ErrorCode)[keyof typeof ErrorCode];

/** RFC 9113 §6.5.2. */
export const Setting = {
  headerTableSize: 1,
  enablePush: 2,
  maxConcurrentStreams: 3,
  initialWindowSize: 4,
  maxFrameSize: 5,
  maxHeaderListSize: 6,
} as const;

/** What a client sends first (RFC 9113 §3.4). */
export const PREFACE = Buffer.from('PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n');

export const FRAME_HEAD_BYTES = 9;
export const SETTING_BYTES = 6;
/** The smallest limit that a peer may have, and ours. */
export const MAX_FRAME_BYTES = 16_384;
/** The largest limit that a peer may have. */
export const MAX_PEER_FRAME_BYTES = 2 ** 24 - 1;
/** Of a connection, and of a stream as long as no setting says something else (RFC 9113 §6.9.2). */
export const INITIAL_WINDOW = 65_535;
export const MAX_WINDOW = 2 ** 31 - 1;
