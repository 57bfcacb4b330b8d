import {
  type Configuration,
  DEPLOYMENT_VARIABLES,
  hexKey,
  integer,
  optional,
  text,
  timeZone,
  url,
} from '@weir/ops';

/** The variables of a process that follows the configuration: a part of its schema. */
export const FEED_VARIABLES = {
  SCHEDULE_TIMEZONE: timeZone({
    description: 'Time zone of the times in schedules.',
    default: 'UTC',
  }),
  DOMAIN_HASH_KEY: hexKey(16, {
    description: 'Key for hashing domains. All processes of a deployment have the same one.',
  }),
  REDIS_URL: url(['redis', 'rediss'], { description: 'Redis over which changes are published.' }),
  FEED_URL: url(['http', 'https'], { description: 'URL of the feed API of the control plane.' }),
  FEED_CA: optional(
    text('a PEM file', {
      description:
        'Certificate authorities that may sign the certificate of the feed API, in place of the public ones that ' +
        'Node.js trusts. FEED_URL must begin with https://. A changed file is used within two seconds; a bad one is ' +
        'logged and changes nothing.',
    }),
  ),
  FEED_PINS: optional(
    text('comma-separated pins such as sha256/ and the SHA-256 of a public key in base64', {
      description:
        'The feed API is trusted only if its public key has one of these pins. With FEED_CA its certificate must be ' +
        'signed too; without it the pin is enough. FEED_URL must begin with https://. To replace the key, list both ' +
        'pins.',
    }),
  ),
  ...DEPLOYMENT_VARIABLES,
  DATA_DIR: optional(
    text('a folder', {
      description:
        'Folder in which this process stores its configuration, so that it can start when nothing else can be ' +
        'reached. No other process may use it. Unset: nothing is stored.',
    }),
  ),
  CATCH_UP_GRACE_MS: integer(0, 600_000, {
    description:
      'Longest time in milliseconds that a process which has started from its disk is not ready because it has not ' +
      'caught up with the control plane.',
    default: '5000',
  }),
} as const;

export type FeedConfiguration = Configuration<typeof FEED_VARIABLES>;
