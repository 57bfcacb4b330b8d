import { inject } from 'vitest';
import { outcomeOf, type Outcome, run } from './run.js';

/** Fields of `docker container inspect` that the tests read. */
export interface Container {
  readonly RestartCount: number;
  readonly HostConfig: { readonly ReadonlyRootfs: boolean };
  readonly State: {
    readonly Status: string;
    readonly ExitCode: number;
    readonly OOMKilled: boolean;
    readonly Pid: number;
    readonly StartedAt: string;
    readonly FinishedAt: string;
    readonly Health?: { readonly Status: string };
  };
}

/** Fields of `docker image inspect` that the tests read. */
export interface Image {
  readonly Size: number;
  readonly Config: {
    readonly User: string;
    readonly Labels: Readonly<Record<string, string>>;
    readonly Volumes?: Readonly<Record<string, unknown>>;
    readonly Healthcheck: { readonly Test: readonly string[] };
  };
}

/** Environment that makes `docker` use the engine of the tests. */
export function dockerEnvironment(): NodeJS.ProcessEnv {
  return { ...process.env, ...inject('docker') };
}

/** @returns the standard output of `docker`, trimmed. @throws Error with all output when it fails. */
export function docker(...args: string[]): Promise<string> {
  return run('docker', args, { env: dockerEnvironment() });
}

export function tryDocker(...args: string[]): Promise<Outcome> {
  return outcomeOf('docker', args, { env: dockerEnvironment() });
}

export async function inspectContainer(id: string): Promise<Container> {
  const [container] = JSON.parse(await docker('container', 'inspect', id)) as [Container];
  return container;
}

export async function inspectImage(name: string): Promise<Image> {
  const [image] = JSON.parse(await docker('image', 'inspect', name)) as [Image];
  return image;
}

/** Standard output and error of a container. Each line begins with its time. */
export async function logsOf(id: string, since: string): Promise<string> {
  const { stdout, stderr } = await tryDocker('logs', '--timestamps', '--since', since, id);
  return `${stdout}${stderr}`;
}
