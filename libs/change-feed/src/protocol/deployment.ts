import { createHash } from 'node:crypto';

/** What all processes of a deployment share. */
export interface Deployment {
  /** It separates this deployment from others on the same Redis. */
  readonly id: string;
  /**
   * Tokens of the feed API at the moment, at least one. The first is sent, and the key that signs messages on Redis is
   * derived from it. All are accepted, so that a token can be replaced without an outage.
   */
  readonly tokens: () => readonly string[];
}

/** The names that one deployment uses in Redis. Redis may lose everything: the change log is in PostgreSQL. */
export interface RedisNames {
  /** Channel of committed changes, see `ChangeMessage`. */
  readonly change: string;
  /** Channel of heads: each control-plane replica publishes the head of the log each second. */
  readonly head: string;
  /** Channel of follower states: each follower publishes its state after changes and each second. */
  readonly follower: string;
  /** Key of a follower's lease; its value is the follower's last state. It is kept when the lease has ended. */
  lease(id: string): string;
  /** Key of the set of the ids of all followers with such a key. */
  readonly leases: string;
  /** Prefix of the keys of the control plane's job queue. */
  readonly jobs: string;
}

/** The names of a deployment. It may share Redis with others: pub/sub channels do not depend on the database number. */
export function redisNames(deploymentId: string): RedisNames {
  const digest = createHash('sha256').update(`weir deployment ${deploymentId}`).digest('hex');
  const prefix = `weir:${digest.slice(0, 16)}`;
  return {
    change: `${prefix}:change`,
    head: `${prefix}:head`,
    follower: `${prefix}:follower`,
    lease: (id) => `${prefix}:lease:${id}`,
    leases: `${prefix}:leases`,
    jobs: `${prefix}:jobs`,
  };
}
