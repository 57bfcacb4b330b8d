import {
  type Configuration,
  hexKey,
  integer,
  optional,
  secret,
  text,
  timeZone,
  url,
} from '@weir/ops';

const SHORTEST_TOKEN = 16;

/** What a process that follows the configuration reads from its environment: a part of its schema. */
export const FEED_VARIABLES = {
  SCHEDULE_TIMEZONE: timeZone({
    description: 'Time zone in which schedules are written.',
    default: 'UTC',
  }),
  DOMAIN_HASH_KEY: hexKey(16, {
    description: 'Key under which domains are hashed; the same in all processes of a deployment.',
  }),
  REDIS_URL: url(['redis', 'rediss'], { description: 'Redis that carries the changes.' }),
  FEED_URL: url(['http', 'https'], { description: 'Feed API of the control plane.' }),
  FEED_TOKEN: secret(SHORTEST_TOKEN, { description: 'Bearer token of the feed API.' }),
  DATA_DIR: optional(
    text('a folder', {
      description:
        'Folder of this process alone, where it keeps the configuration to start from when nothing else can be reached. Unset: nothing is kept.',
    }),
  ),
  CATCH_UP_GRACE_MS: integer(0, 600_000, {
    description:
      'Longest that a process with a configuration from its disk is not ready ' +
      'because it has not caught up with the control plane.',
    default: '5000',
  }),
} as const;

export type FeedConfiguration = Configuration<typeof FEED_VARIABLES>;
