import { OpsServer, type OpsServerOptions } from '@weir/ops';
import { Counter, Gauge, Registry } from 'prom-client';
import type { SupervisedProcess } from './supervised-process.js';

export interface StackOpsOptions extends OpsServerOptions {
  /** The processes that were started so far. */
  readonly processes: () => readonly SupervisedProcess[];
  /** Whether the first start is complete. */
  readonly isStarted: () => boolean;
}

/**
 * Health and metrics of the stack itself: which of its processes run. @throws StartError if the port is not available.
 */
export async function startStackOps(options: StackOpsOptions): Promise<OpsServer> {
  const { host, port, log, processes, isStarted } = options;
  const notReady = (): string | null => {
    if (!isStarted()) return 'starting';
    const missing = processes()
      .filter(({ isUp }) => !isUp)
      .map(({ name }) => name);
    return missing.length === 0 ? null : `not running: ${missing.join(', ')}`;
  };
  const ops = await OpsServer.start({ host, port, log });
  ops.serve({ notReady, registry: createRegistry(processes) });
  return ops;
}

function createRegistry(processes: () => readonly SupervisedProcess[]): Registry {
  const registry = new Registry();
  new Counter({
    name: 'weir_stack_process_restarts_total',
    help: 'How often a process was started again after it had ended by itself',
    labelNames: ['process'],
    registers: [registry],
    collect() {
      this.reset();
      for (const { name, restarts } of processes()) this.inc({ process: name }, restarts);
    },
  });
  new Gauge({
    name: 'weir_stack_process_up',
    help: 'Whether the process runs',
    labelNames: ['process'],
    registers: [registry],
    collect() {
      this.reset();
      for (const { name, isUp } of processes()) this.set({ process: name }, isUp ? 1 : 0);
    },
  });
  return registry;
}
