/** Why a packet got no answer. */
export const DropReason = {
  /** Not a query: a reply, a packet shorter than a header, a broken TCP frame. */
  malformed: 0,
  /** From a source that cannot be answered, such as port 0. */
  unanswerable: 1,
  /** Arrived while the process was stopping. */
  draining: 2,
  /** The kernel accepts no more answers at the moment. */
  backlog: 3,
  /** The system could not send the answer. */
  unsent: 4,
  /** An exception in our own code; the log describes it. */
  defect: 5,
  /** More queries or errors than one client may have in a second. */
  limited: 6,
  /** A connection over the limit of one client, or of the whole listener. */
  crowded: 7,
  /** From a load balancer, but without a valid PROXY header. */
  unproxied: 8,
  /** A connection that was closed because its client leaves too many bytes unread. */
  unread: 9,
  /** A connection that was closed because all of them leave too many bytes unread, and this one the most. */
  memory: 10,
  /** More queries wait for the main thread than a lane can hand over. */
  handover: 11,
} as const;
export type DropReason = (typeof DropReason)[keyof typeof DropReason];
