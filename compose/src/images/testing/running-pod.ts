import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { connect } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { docker, inspectContainer, tryDocker } from './docker.js';
import type { Probe, ProbeKind, ReportedPod } from '../../../../k8s/src/pods/testing/report.js';

/** A pod of the chart as a container of the engine, asked how it is as the kubelet asks. */
export class RunningPod {
  constructor(
    readonly pod: ReportedPod,
    readonly id: string,
    /** Its address in the cluster's network. */
    readonly ip: string,
  ) {}

  get component(): string {
    return this.pod.component;
  }

  portOf(name: string): number {
    const port = this.pod.ports.find((one) => one.name === name)?.containerPort;
    if (port === undefined) throw new Error(`${this.component} has no port ${name}`);
    return port;
  }

  /** Whether a probe succeeds, asked once. */
  async probe(kind: ProbeKind): Promise<boolean> {
    const probe = this.probeOf(kind);
    if (probe.exec) return (await tryDocker('exec', this.id, ...probe.exec.command)).status === 0;
    const timeoutMs = probe.timeoutSeconds * 1000;
    const { httpGet, tcpSocket } = probe;
    if (httpGet) return this.answersHttp(httpGet.path, this.portOf(httpGet.port), timeoutMs);
    if (tcpSocket) return this.accepts(this.portOf(tcpSocket.port), timeoutMs);
    throw new Error(`the ${kind} probe of ${this.component} asks nothing that is known here`);
  }

  /** Asks until a probe succeeds, as often as the kubelet would before it gives up. */
  async becomes(kind: ProbeKind, attempts = this.probeOf(kind).failureThreshold): Promise<boolean> {
    for (let attempt = 0; attempt < attempts; attempt++) {
      if (await this.probe(kind)) return true;
      await sleep(this.probeOf(kind).periodSeconds * 1000);
    }
    return false;
  }

  /** Waits for the end of a pod that runs to its end. @returns its exit code. */
  async exitCode(): Promise<number> {
    return Number(await docker('wait', this.id));
  }

  /** SIGTERM, then SIGKILL after the time that the chart gives. @returns the exit code: 137 after SIGKILL. */
  async stop(): Promise<number> {
    await docker('stop', `--time=${this.pod.terminationGracePeriodSeconds ?? 30}`, this.id);
    return (await inspectContainer(this.id)).State.ExitCode;
  }

  /** `/proc/<pid>/status` of the first process. */
  async processStatus(): Promise<string> {
    const { Pid: pid } = (await inspectContainer(this.id)).State;
    return readFileSync(`/proc/${pid}/status`, 'utf8');
  }

  async logs(): Promise<string> {
    const { stdout, stderr } = await tryDocker('logs', this.id);
    return stdout + stderr;
  }

  private probeOf(kind: ProbeKind): Probe {
    const probe = this.pod.probes[kind];
    if (probe === undefined) throw new Error(`${this.component} has no ${kind} probe`);
    return probe;
  }

  private async answersHttp(path: string, port: number, timeoutMs: number): Promise<boolean> {
    const signal = AbortSignal.timeout(timeoutMs);
    const url = `http://${this.ip}:${port}${path}`;
    const status = await fetch(url, { signal, redirect: 'manual' }).then(
      (response) => response.status,
      () => 0,
    );
    return status >= 200 && status < 400;
  }

  private async accepts(port: number, timeoutMs: number): Promise<boolean> {
    const socket = connect({ host: this.ip, port });
    const connected = once(socket, 'connect', { signal: AbortSignal.timeout(timeoutMs) });
    const isAccepted = await connected.then(
      () => true,
      () => false,
    );
    socket.destroy();
    return isAccepted;
  }
}
