import { ManagementClient } from '@weir/tools/deployment/management-client';
import { freshUserEnvironment } from '@weir/tools/services/clone';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { portVariables, PORTS } from './ports.js';
import { PATIENT } from './patient.js';
import { Terminal } from './terminal.js';

export const root = fileURLToPath(new URL('../../../..', import.meta.url));
const START_MS = 120_000;

/** The compiled stack of the working tree, with its own folder. */
export class LocalStack {
  readonly folder = mkdtempSync(join(tmpdir(), 'weir-stack-'));
  readonly environment: Record<string, string>;
  private started: Terminal | undefined;

  constructor(variables: Readonly<Record<string, string>>) {
    this.environment = {
      ...freshUserEnvironment(),
      ...portVariables(PORTS),
      DATA_DIR: join(this.folder, 'data'),
      ...PATIENT,
      ...variables,
    };
  }

  get terminal(): Terminal {
    if (this.started === undefined) throw new Error('the stack was not started');
    return this.started;
  }

  /** Resolves when it is ready. */
  async start(): Promise<ManagementClient> {
    this.started = this.run('tools/dist/stack/main.js');
    await this.started.waitFor('Ctrl-C stops everything', START_MS);
    const token = /Token\s+(\S+)/.exec(this.started.output)?.[1] ?? '';
    return new ManagementClient(PORTS.management, token);
  }

  /** Runs a script of the repository with the stack's variables. */
  run(script: string, ...args: readonly string[]): Terminal {
    const options = { cwd: root, env: this.environment };
    return new Terminal(process.execPath, [script, ...args], options);
  }

  /** Runs a shell line in the repository, with the stack's variables and the URL of its database. */
  play(line: string): Terminal {
    const { DATABASE_URL = '' } = line.includes('$DATABASE_URL')
      ? this.environmentOf('control-plane')
      : {};
    const env = { ...this.environment, DATABASE_URL };
    return new Terminal('bash', ['-c', line], { cwd: root, env });
  }

  /** The variables that the stack gives a process. */
  environmentOf(name: string): Record<string, string> {
    const file = join(this.folder, 'data/stack.json');
    return (JSON.parse(readFileSync(file, 'utf8')) as Record<string, Record<string, string>>)[name];
  }

  /** The running process with that name. @throws Error when there is none. */
  pid(name: string): number {
    const pid = this.children().find((child) => isProcess(child, name));
    if (pid === undefined) throw new Error(`no ${name} runs`);
    return pid;
  }

  /** The stack's own processes. */
  children(): readonly number[] {
    const { pid } = this.terminal;
    const text = readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8');
    return text.split(' ').filter(Boolean).map(Number);
  }

  async metric(series: string): Promise<number> {
    const response = await fetch(`http://127.0.0.1:${PORTS.ops + 30}/metrics`);
    const line = (await response.text()).split('\n').find((one) => one.startsWith(`${series} `));
    return Number(line?.split(' ').at(-1) ?? Number.NaN);
  }

  /** Stops the stack if it still runs, and removes its folder. */
  async remove(): Promise<void> {
    await this.started?.interrupt();
    rmSync(this.folder, { recursive: true, force: true });
  }
}

function isProcess(pid: number, name: string): boolean {
  const command = readFileSync(`/proc/${pid}/cmdline`, 'utf8').replaceAll('\0', ' ');
  const [kind = '', number] = name.split(/-(?=\d)/);
  switch (kind) {
    case 'postgres':
      return command.includes('/postgres -D');
    case 'redis':
      return /^\S*(redis|valkey)-server/.test(command);
    default: {
      const variables = readFileSync(`/proc/${pid}/environ`, 'utf8').split('\0');
      const isOwn =
        number === undefined || variables.includes(`DNS_PORT=${PORTS.dns + Number(number)}`);
      return command.includes(`apps/${kind}/dist/main.js`) && isOwn;
    }
  }
}
