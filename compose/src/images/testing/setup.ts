import { fileURLToPath } from 'node:url';
import type { TestProject } from 'vitest/node';
import { makeBaseImage, makeComposePlugin } from './debian.js';
import { Deployment } from './deployment.js';
import { Engine } from './engine.js';
import { run } from './run.js';

declare module 'vitest' {
  interface ProvidedContext {
    /** Environment that makes `docker` use the engine of the tests. */
    docker: Record<string, string>;
  }
}

const standIns = fileURLToPath(new URL('stand-ins', import.meta.url));

/** Starts an engine and builds all images. @returns a function that stops the engine. */
export default async function setup(project: TestProject): Promise<() => Promise<void>> {
  const cache = process.env['CACHE'];
  if (cache === undefined) throw new Error('run these tests with npm run test:images');
  const engine = await Engine.start(cache);
  const env = { ...process.env, ...engine.environment };
  try {
    await engine.removeContainers();
    await timed('Docker Compose', () => makeComposePlugin(cache, env));
    await timed('Base image', () => makeBaseImage(cache, env));
    await timed('Stand-ins of other servers', () => compose(standIns, env, 'build'));
    const deployment = await Deployment.create(env);
    await timed('Images', () => deployment.shell('compose/build-images.sh'));
    await deployment.remove();
    // Removes layers of old sources.
    const prune = ['builder', 'prune', '--force', '--keep-storage=4gb'];
    await run('docker', prune, { env: { ...env, DOCKER_BUILDKIT: '0' } });
    await run('docker', ['image', 'prune', '--force', '--filter=until=24h'], { env });
  } catch (error) {
    await engine.stop();
    throw error;
  }
  project.provide('docker', { ...engine.environment });
  return () => engine.stop();
}

function compose(cwd: string, env: NodeJS.ProcessEnv, ...args: string[]): Promise<string> {
  return run('docker', ['compose', ...args], { cwd, env });
}

async function timed(title: string, work: () => Promise<unknown>): Promise<void> {
  const startedMs = performance.now();
  process.stdout.write(`${title} … `);
  await work();
  process.stdout.write(`${((performance.now() - startedMs) / 1000).toFixed(1)} s\n`);
}
