import { createLogger, StartError } from '@weir/ops';
import { OpsServer, ReadMetrics } from '@weir/ops/metrics';
import { randomBytes } from 'node:crypto';
import { existsSync } from 'node:fs';
import { mkdtempDisposable } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { Registry } from 'prom-client';
import { print } from '../command.js';
import { migrate } from '../migrate/migrate.js';
import { type Child, runChild, startChild, waitUntilReady } from '../services/child.js';
import { createFolder, lockFolder, ROOT, writeFileAtomically } from '../services/files.js';
import { checkReachable } from '../services/ports.js';
import { startPostgres, withRuntimeRole } from '../services/postgres.js';
import { startRedis } from '../services/redis.js';
import { STACK_OPS_OFFSET, type StackConfiguration } from './configuration.js';
import { type PlannedProcess, planProcesses, reachableHost, type Stores } from './plan.js';
import { readSecrets, type StackSecrets } from './secrets.js';
import {
  RestartPolicy,
  SupervisedProcess,
  type SupervisedProcessOptions,
} from './supervised-process.js';

/** In place of a URL that a process does not use, or that is not known yet. */
const UNKNOWN_DATABASE = 'postgresql://unset';
/** Time for a process to exit after it has drained. */
const STOP_DEADLINE_MS = 10_000;

/**
 * Weir on one machine: every process, and PostgreSQL and Redis if no URL is given. After the start it restarts
 * every process that exits. It prints each step of the start, and later exits and restarts of processes. A start
 * fails when a process does. But once everything was up, a start waits for the database, and meanwhile the resolvers
 * answer with what they have on their disks.
 */
export class Stack {
  readonly dataDir: string;
  /** It is there since everything was up for the first time. */
  private readonly startedFile: string;
  private readonly stores: SupervisedProcess[] = [];
  private readonly processes: SupervisedProcess[] = [];
  /** Rejects with an explanation when one of them exits during the first start. */
  private readonly startFailed = Promise.withResolvers<never>();
  private isStarted = false;
  /** Everything was up before, so the followers have a configuration on their disks. */
  private isResuming = false;
  private stopping = false;
  private lock: Disposable | undefined;
  private ops: OpsServer | undefined;

  /** @throws StartError when variables contradict each other */
  constructor(private readonly configuration: StackConfiguration) {
    const { DATABASE_URL, OWNER_DATABASE_URL, DATA_DIR } = configuration;
    if (OWNER_DATABASE_URL !== undefined && DATABASE_URL === undefined)
      throw new StartError('OWNER_DATABASE_URL needs DATABASE_URL');
    this.dataDir = resolve(ROOT, DATA_DIR);
    this.startedFile = join(this.dataDir, 'stack.started');
    // `start` reports the error.
    this.startFailed.promise.catch(() => undefined);
  }

  /**
   * Starts everything and waits until it is ready. Call `stop` afterwards, even if this fails.
   * @throws Error if `stop` is called during the start.
   */
  async start(): Promise<StackSecrets> {
    const secrets = await Promise.race([this.startAll(), this.startFailed.promise]);
    for (const one of this.all()) one.enableRestarts();
    this.isStarted = true;
    writeFileAtomically(this.startedFile, '');
    return secrets;
  }

  /** Lets every process check its variables, and changes nothing. @throws StartError that names the wrong ones */
  async check(): Promise<void> {
    const secrets = readSecrets(this.configuration, this.dataDir, true);
    await using logs = await mkdtempDisposable(join(tmpdir(), 'weir-check-'));
    await this.checkVariables(secrets, logs.path);
  }

  /** What the control plane says to be degraded (`OpsHandlers`). */
  async degraded(): Promise<readonly string[]> {
    const { OPS_HOST, OPS_PORT } = this.configuration;
    const url = `http://${reachableHost(OPS_HOST)}:${OPS_PORT}/readyz`;
    const response = await fetch(url).catch(() => null);
    if (response === null) return ['the control plane does not answer'];
    return [...(await response.text()).matchAll(/^degraded: (.*)$/gm)].map(([, what]) => what);
  }

  /** Stops everything that was started, the stores last. */
  async stop(): Promise<void> {
    this.stopping = true;
    await Promise.all(this.processes.map((one) => one.stop()));
    await Promise.all(this.stores.map((one) => one.stop()));
    await this.ops?.close();
    this.lock?.[Symbol.dispose]();
  }

  private async startAll(): Promise<StackSecrets> {
    const { configuration } = this;
    createFolder(this.dataDir);
    this.lock = lockFolder(this.dataDir);
    createFolder(join(this.dataDir, 'logs'));
    const secrets = readSecrets(configuration, this.dataDir);
    await this.checkVariables(secrets, join(this.dataDir, 'logs'));
    await this.startOps();
    this.isResuming = existsSync(this.startedFile);
    const redisUrl = await this.startRedis();
    const plan = (databaseUrl: string): readonly PlannedProcess[] =>
      planProcesses(configuration, secrets, this.dataDir, { databaseUrl, redisUrl });
    // They are not given the database.
    const [, ...followers] = plan(UNKNOWN_DATABASE);
    const resumed = this.isResuming ? this.startProcesses(followers) : null;
    const resuming = [...this.processes];
    resumed?.then(
      () => resuming.forEach((one) => one.enableRestarts()),
      (error: unknown) => this.startFailed.reject(error),
    );
    const { databaseUrl, ownerUrl } = await this.startDatabase();
    this.progress('Migrating the database');
    await this.repeatIfResuming(() => migrate({ databaseUrl, ownerUrl }));
    const planned = plan(databaseUrl);
    this.writeEnvironments(planned, ownerUrl ?? databaseUrl);
    await this.startProcesses(planned.slice(0, 1));
    await (resumed ?? this.startProcesses(followers));
    return secrets;
  }

  /** Does a step of a start. When the stack resumes, it is repeated until it succeeds. */
  private async repeatIfResuming<T>(step: () => Promise<T>): Promise<T> {
    const policy = new RestartPolicy();
    for (;;) {
      const startedMs = performance.now();
      try {
        return await step();
      } catch (error) {
        if (!this.isResuming || this.stopping) throw error;
        const { pauseMs } = policy.ended(startedMs, performance.now());
        const { message } = error as Error;
        print(`${message}; it is tried again in ${pauseMs / 1000} s`);
        await sleep(pauseMs);
        if (this.stopping) throw error;
      }
    }
  }

  /** Health and metrics of the stack itself: which of its processes run. @throws StartError if the port is taken. */
  private async startOps(): Promise<void> {
    const { OPS_HOST: host, OPS_PORT } = this.configuration;
    const log = createLogger({ name: 'weir', level: 'error' });
    this.ops = await OpsServer.start({ host, port: OPS_PORT + STACK_OPS_OFFSET, log });
    const metrics = new ReadMetrics(new Registry(), 'weir_stack_');
    metrics.counters(
      'process_restarts_total',
      'How often a process was started again after it had ended by itself',
      ['process'],
      () => this.all().map(({ name, restarts }) => [{ process: name }, restarts]),
    );
    metrics.gauges('process_up', 'Whether the process runs', ['process'], () =>
      this.all().map(({ name, isUp }) => [{ process: name }, isUp ? 1 : 0]),
    );
    const notReady = (): string | null => {
      if (!this.isStarted) return 'starting';
      const missing = this.all().filter(({ isUp }) => !isUp);
      const names = missing.map(({ name }) => name).join(', ');
      return missing.length === 0 ? null : `not running: ${names}`;
    };
    this.ops.serve({ notReady, registry: metrics.registry });
  }

  private async startRedis(): Promise<string> {
    const { REDIS_URL } = this.configuration;
    if (REDIS_URL !== undefined) {
      if (!this.isResuming) await checkReachable(REDIS_URL, 'REDIS_URL');
      return REDIS_URL;
    }
    const options = {
      dataDir: join(this.dataDir, 'redis'),
      logFile: this.logFile('redis'),
      password: randomBytes(24).toString('hex'),
      onProgress: (text: string) => this.progress(text),
    };
    const start = (port: number | undefined) => startRedis({ ...options, port });
    // Without it nothing is started: the others are given its URL.
    return this.startStore('redis', 'Redis', start, (one) => one.start());
  }

  private async startDatabase(): Promise<Omit<Stores, 'redisUrl'>> {
    const { DATABASE_URL: databaseUrl, OWNER_DATABASE_URL } = this.configuration;
    if (databaseUrl !== undefined) return { databaseUrl, ownerUrl: OWNER_DATABASE_URL };
    const dataDir = join(this.dataDir, 'postgres');
    const start = (port: number | undefined) =>
      startPostgres({ dataDir, logFile: this.logFile('postgres'), port });
    const ownerUrl = await this.startStore('postgres', 'PostgreSQL', start, (one) => {
      if (this.isResuming) one.enableRestarts();
      return this.repeatIfResuming(() => one.start());
    });
    return { databaseUrl: withRuntimeRole(ownerUrl), ownerUrl };
  }

  /** @param start takes a free port for undefined. @param begin makes the first start. @returns its URL */
  private async startStore(
    name: string,
    title: string,
    start: (port: number | undefined) => Promise<{ readonly url: string; readonly child: Child }>,
    begin: (supervised: SupervisedProcess) => Promise<void>,
  ): Promise<string> {
    this.progress(`Starting ${title}`);
    let url = '';
    const supervised = this.supervise(name, {
      start: async () => {
        // Other processes get its URL only once, so a restart uses the same port.
        const server = await start(url === '' ? undefined : Number(new URL(url).port));
        url = server.url;
        return server.child;
      },
      waitUntilReady: () => Promise.resolve(),
      // Fast shutdown of PostgreSQL; Redis accepts SIGINT too.
      stop: (child) => child.stop('SIGINT', 30_000),
    });
    this.stores.push(supervised);
    await begin(supervised);
    return url;
  }

  /** So a wrong variable is reported before anything runs. @param logs folder for what the processes print */
  private async checkVariables(secrets: StackSecrets, logs: string): Promise<void> {
    const unset = { databaseUrl: UNKNOWN_DATABASE, redisUrl: 'redis://unset' };
    const unchecked = planProcesses(this.configuration, secrets, this.dataDir, unset);
    const checks = unchecked.map(({ name, script, environment: own }) => {
      const program = { command: process.execPath, args: [script, '--check'], cwd: ROOT };
      const logFile = join(logs, `${name}.log`);
      return runChild({ ...program, env: { ...process.env, ...own }, logFile });
    });
    await Promise.all(checks).catch((error: unknown) => {
      throw new StartError((error as Error).message, { cause: error });
    });
  }

  private async startProcesses(planned: readonly PlannedProcess[]): Promise<void> {
    this.progress(`Starting ${planned.map(({ name }) => name).join(', ')}`);
    await Promise.all(planned.map((one) => this.startProcess(one)));
  }

  private async startProcess({ name, script, ...planned }: PlannedProcess): Promise<void> {
    const child = {
      command: process.execPath,
      args: ['--enable-source-maps', script],
      cwd: ROOT,
      env: { ...process.env, ...planned.environment },
      logFile: this.logFile(name),
    };
    const graceMs = STOP_DEADLINE_MS + this.configuration.DRAIN_S * 1_000;
    const supervised = this.supervise(name, {
      start: () => Promise.resolve(startChild(child)),
      waitUntilReady: (signal, deadlineMs) => waitUntilReady(planned.readyUrl, signal, deadlineMs),
      stop: (child) => child.stop('SIGTERM', graceMs),
    });
    this.processes.push(supervised);
    await supervised.start();
  }

  private supervise(
    name: string,
    options: Pick<SupervisedProcessOptions, 'start' | 'waitUntilReady' | 'stop'>,
  ): SupervisedProcess {
    return new SupervisedProcess({
      ...options,
      name,
      logFile: this.logFile(name),
      report: print,
      policy: new RestartPolicy(),
      onUnexpectedExit: (explanation) => this.startFailed.reject(new StartError(explanation)),
    });
  }

  /**
   * Writes the variables of each process to a file, for running another process by hand or for looking into the
   * stores. Those of backup and restore have the role that owns the tables.
   */
  private writeEnvironments(planned: readonly PlannedProcess[], ownerUrl: string): void {
    const environments = Object.fromEntries([
      ...planned.map(({ name, environment }) => [name, environment] as const),
      ['backup', { DATABASE_URL: ownerUrl }],
    ]);
    writeFileAtomically(join(this.dataDir, 'stack.json'), JSON.stringify(environments, null, 2));
  }

  /** Reports the next step. @throws Error if the stack is being stopped. */
  private progress(text: string): void {
    if (this.stopping) throw new Error('the start was interrupted');
    print(text);
  }

  /** All processes in the order of their start. */
  private all(): readonly SupervisedProcess[] {
    return [...this.stores, ...this.processes];
  }

  private logFile(name: string): string {
    return join(this.dataDir, 'logs', `${name}.log`);
  }
}
