/** Why a packet got no answer. */
export const DropReason = {
  /** No query at all: a reply, less than a header, a broken TCP frame. */
  malformed: 0,
  /** From a source that cannot be answered, such as port 0. */
  unanswerable: 1,
  /** Came while the process was stopping. */
  draining: 2,
  /** The kernel takes no more answers. */
  backlog: 3,
  /** The system could not send the answer. */
  unsent: 4,
  /** Handling it failed: a defect, which the log describes. */
  defect: 5,
  /** More queries or errors than one client gets answered in a second. */
  limited: 6,
  /** A connection more than one client, or all together, may have. */
  crowded: 7,
  /** From a load balancer, without a sound PROXY header. */
  unproxied: 8,
} as const;
export type DropReason = (typeof DropReason)[keyof typeof DropReason];
