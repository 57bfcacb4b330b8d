import { type Deployment, DeploymentMessages } from '../protocol/signed-messages.js';

const SILENT = { info: () => undefined, warn: () => undefined, error: () => undefined };

/** A deployment whose only secret is the token. */
export function deploymentOf(feedToken: string): Deployment {
  const tokens = [feedToken];
  return { id: feedToken, tokens: () => tokens };
}

/** The `isAuthorised` of a feed server that accepts these tokens. */
export function accepts(...tokens: readonly string[]): (authorization?: string) => boolean {
  return (authorization) => tokens.some((token) => authorization === `Bearer ${token}`);
}

/** Publishes texts as a process of the deployment does. */
export function speakerOf(deployment: Deployment) {
  const messages = new DeploymentMessages(deployment, SILENT);
  return async (
    redis: { publish(channel: string, message: string): Promise<unknown> },
    kind: 'change' | 'head' | 'follower',
    text: string,
  ): Promise<void> => {
    const channel = messages.names[kind];
    await redis.publish(channel, messages.sign(channel, text));
  };
}
