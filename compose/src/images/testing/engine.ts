import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { openSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { outcomeOf, run } from './run.js';

const START_MS = 60_000;

/** A Docker Engine for the tests only, with its own images, networks and containers. */
export class Engine {
  private constructor(
    private readonly daemon: ChildProcess,
    /** Environment that makes `docker` use it. */
    readonly environment: Readonly<Record<string, string>>,
  ) {}

  /** @param cache folder that keeps images and layers between runs. */
  static async start(cache: string): Promise<Engine> {
    // An engine that was killed leaves its process id, which is another process of these namespaces by now.
    for (const name of ['dockerd.pid', 'run'])
      rmSync(join(cache, name), { recursive: true, force: true });
    const log = openSync(join(cache, 'dockerd.log'), 'w');
    const host = `unix://${join(cache, 'docker.sock')}`;
    const folders = ['--data-root', join(cache, 'engine'), '--exec-root', join(cache, 'run')];
    const where = ['--host', host, '--pidfile', join(cache, 'dockerd.pid')];
    const daemon = spawn('dockerd', [...folders, ...where], { stdio: ['ignore', log, log] });
    const engine = new Engine(daemon, {
      DOCKER_HOST: host,
      DOCKER_CONFIG: join(cache, 'docker'),
    });
    await engine.waitUntilUp(join(cache, 'dockerd.log'));
    return engine;
  }

  async stop(): Promise<void> {
    const ended = once(this.daemon, 'exit');
    this.daemon.kill();
    await ended;
  }

  /** Removes the leftovers of an earlier run that was interrupted. */
  async removeContainers(): Promise<void> {
    const env = { ...process.env, ...this.environment };
    const ids = (await run('docker', ['ps', '--all', '--quiet'], { env })).split('\n');
    if (ids[0] !== '') await run('docker', ['rm', '--force', '--volumes', ...ids], { env });
    await run('docker', ['network', 'prune', '--force'], { env });
    await run('docker', ['volume', 'prune', '--force'], { env });
  }

  private async waitUntilUp(logFile: string): Promise<void> {
    const env = { ...process.env, ...this.environment };
    for (let waitedMs = 0; waitedMs < START_MS; waitedMs += 200) {
      if (this.daemon.exitCode !== null) break;
      if ((await outcomeOf('docker', ['version'], { env })).status === 0) return;
      await sleep(200);
    }
    throw new Error(`dockerd did not start; see ${logFile}`);
  }
}
