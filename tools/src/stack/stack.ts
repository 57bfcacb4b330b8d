import { StartError } from '@weir/ops';
import { join, resolve } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { migrate } from '../migrate/migrate.js';
import { type Child, describeEnding, runChild, startChild } from '../services/child.js';
import { lockFolder, makeFolder, writeWhole } from '../services/files.js';
import { expectFree, expectReachable } from '../services/ports.js';
import { startPostgres } from '../services/postgres.js';
import { startRedis } from '../services/redis.js';
import type { StackConfiguration } from './configuration.js';
import { type PlannedProcess, planProcesses, type Stores, wantedPorts } from './plan.js';
import { readSecrets, type StackSecrets } from './secrets.js';

const READY_DEADLINE_MS = 60_000;

export interface StackOptions {
  readonly configuration: StackConfiguration;
  readonly environment: Readonly<Record<string, string | undefined>>;
  /** The repository's root. */
  readonly root: string;
  /** Told each step as it begins. */
  readonly onProgress: (text: string) => void;
}

/** The start was given up because the stack is being stopped. */
export class Interrupted extends Error {
  override readonly name = 'Interrupted';
}

/** Weir on one machine: the stores that are missing, and every process. */
export class Stack {
  /** Settles with an explanation when a process ends by itself. */
  readonly broken: Promise<string>;
  readonly dataDir: string;
  private readonly children: Child[] = [];
  private stopping = false;
  private lock: ReturnType<typeof lockFolder> | undefined;
  private breakDown!: (explanation: string) => void;

  constructor(private readonly options: StackOptions) {
    this.dataDir = resolve(options.root, options.configuration.DATA_DIR);
    this.broken = new Promise((resolveBroken) => {
      this.breakDown = resolveBroken;
    });
  }

  /**
   * Starts everything and waits until all of it is ready. What was started must be stopped whether or not this succeeds.
   * @throws Interrupted when `stop` is called meanwhile.
   */
  async start(): Promise<StackSecrets> {
    const { configuration } = this.options;
    await expectFree(wantedPorts(configuration));
    makeFolder(this.dataDir);
    this.lock = lockFolder(this.dataDir);
    makeFolder(join(this.dataDir, 'logs'));
    const secrets = readSecrets(configuration, this.dataDir);
    const unset = { databaseUrl: 'postgresql://unset', redisUrl: 'redis://unset' };
    const unchecked = planProcesses(configuration, secrets, this.dataDir, unset);
    await Promise.all(unchecked.map((planned) => this.check(planned)));
    const stores = await this.startStores();
    this.progress('Migrating the database');
    await migrate({
      databaseUrl: stores.databaseUrl,
      folder: join(this.options.root, 'prisma/migrations'),
    });
    const processes = planProcesses(configuration, secrets, this.dataDir, stores);
    this.writeEnvironments(processes);
    const [controlPlane, ...resolvers] = processes;
    await this.startProcesses([controlPlane]);
    await this.startProcesses(resolvers);
    return secrets;
  }

  /** Stops what was started, last started first, and nothing else. */
  async stop(): Promise<void> {
    this.stopping = true;
    const started = this.children.splice(0).reverse();
    const isStore = (child: Child): boolean => child.name === 'postgres' || child.name === 'redis';
    await Promise.all(started.filter((child) => !isStore(child)).map((child) => child.stop()));
    // SIGINT is PostgreSQL's fast shutdown; Redis takes it as well.
    await Promise.all(started.filter(isStore).map((child) => child.stop('SIGINT', 30_000)));
    this.lock?.release();
  }

  private async startProcesses(processes: readonly PlannedProcess[]): Promise<void> {
    this.progress(`Starting ${processes.map(({ name }) => name).join(', ')}`);
    for (const planned of processes) this.startProcess(planned);
    await Promise.race([
      Promise.all(processes.map((planned) => this.waitUntilReady(planned))),
      this.broken.then((explanation) => {
        throw new StartError(explanation);
      }),
    ]);
  }

  /** Says what comes next, or ends the start here when it was interrupted. */
  private progress(text: string): void {
    if (this.stopping) throw new Interrupted();
    this.options.onProgress(text);
  }

  private async startStores(): Promise<Stores> {
    const { DATABASE_URL, REDIS_URL } = this.options.configuration;
    if (REDIS_URL !== undefined) await expectReachable(REDIS_URL, 'REDIS_URL');
    const [databaseUrl, redisUrl] = await Promise.all([
      DATABASE_URL ??
        this.startOwn('PostgreSQL', () =>
          startPostgres({
            dataDir: join(this.dataDir, 'postgres'),
            logFile: this.logFile('postgres'),
          }),
        ),
      REDIS_URL ??
        this.startOwn('Redis', () =>
          startRedis({
            dataDir: join(this.dataDir, 'redis'),
            logFile: this.logFile('redis'),
            onProgress: (text) => {
              this.progress(text);
            },
          }),
        ),
    ]);
    return { databaseUrl, redisUrl };
  }

  private async startOwn(
    title: string,
    start: () => Promise<{ url: string; child: Child }>,
  ): Promise<string> {
    this.progress(`Starting ${title}`);
    const { url, child } = await start();
    await this.watch(child);
    return url;
  }

  /** Has the process read its variables, so that a wrong one is one line before anything runs. */
  private async check(planned: PlannedProcess): Promise<void> {
    const { root, environment } = this.options;
    try {
      await runChild({
        name: planned.name,
        command: process.execPath,
        args: [planned.script, '--check'],
        env: { ...environment, ...planned.environment },
        cwd: root,
        logFile: this.logFile(planned.name),
      });
    } catch (error) {
      throw new StartError((error as Error).message, { cause: error });
    }
  }

  private startProcess(planned: PlannedProcess): void {
    const child = startChild({
      name: planned.name,
      command: process.execPath,
      args: ['--enable-source-maps', planned.script],
      env: { ...this.options.environment, ...planned.environment },
      cwd: this.options.root,
      logFile: this.logFile(planned.name),
    });
    void this.watch(child);
  }

  private async watch(child: Child): Promise<void> {
    // A store that comes up while the stack is being stopped has nobody left to stop it but this.
    if (this.stopping) {
      await child.stop('SIGINT');
      return;
    }
    this.children.push(child);
    void child.ended.then((ending) => {
      if (this.stopping) return;
      const lines = child.lastLines().map((line) => `  ${line}\n`);
      this.breakDown(
        `${child.name} ended by itself (${describeEnding(ending)}). Its last lines (${this.logFile(child.name)}):\n${lines.join('').trimEnd()}`,
      );
    });
  }

  /** What each process was given, for whoever wants to run one more by hand or look into the stores. */
  private writeEnvironments(processes: readonly PlannedProcess[]): void {
    const environments = Object.fromEntries(
      processes.map(({ name, environment }) => [name, environment]),
    );
    writeWhole(join(this.dataDir, 'stack.json'), JSON.stringify(environments, null, 2));
  }

  private async waitUntilReady(planned: PlannedProcess): Promise<void> {
    const deadlineMs = performance.now() + READY_DEADLINE_MS;
    let reason = 'no answer';
    while (performance.now() < deadlineMs && !this.stopping) {
      try {
        const response = await fetch(planned.readyUrl, { signal: AbortSignal.timeout(2_000) });
        if (response.ok) return;
        reason = (await response.text()).trim();
      } catch {
        reason = 'no answer'; // not listening yet
      }
      await sleep(50);
    }
    if (this.stopping) throw new Interrupted();
    throw new StartError(
      `${planned.name} is not ready after ${READY_DEADLINE_MS / 1000} s: ${reason} (${this.logFile(planned.name)})`,
    );
  }

  private logFile(name: string): string {
    return join(this.dataDir, 'logs', `${name}.log`);
  }
}
