import { readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { type Environment, Failure } from './context.js';

/** The repository, or the folder of the image. */
export const ROOT = fileURLToPath(new URL('../../..', import.meta.url));

/** The folder of the local stack. */
export function stackFolder({ DATA_DIR }: Environment): string {
  return resolve(ROOT, DATA_DIR ?? '.weir');
}

/**
 * Variables of the control plane: of this environment if it has all that are needed, as in the container of a
 * control plane, else of the stack that runs from this folder.
 */
export function controlPlaneVariables(environment: Environment, ...needed: string[]): Environment {
  if (needed.every((name) => environment[name] !== undefined)) return environment;
  const file = join(stackFolder(environment), 'stack.json');
  try {
    const stack = JSON.parse(readFileSync(file, 'utf8')) as Record<string, Environment>;
    return stack['control-plane'];
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException;
    if (code === 'ENOENT') return environment;
    throw new Failure(`${file} cannot be read: ${code ?? message}`);
  }
}
