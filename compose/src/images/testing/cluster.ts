import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { docker, tryDocker } from './docker.js';
import { mountsOf, type VolumeSources } from './pod-volumes.js';
import type { ReportedPod } from '../../../../k8s/src/pods/testing/report.js';
import { RunningPod } from './running-pod.js';

const { version } = JSON.parse(
  readFileSync(new URL('../../../../package.json', import.meta.url), 'utf8'),
) as { version: string };
/** The namespace that the chart is rendered for. */
const NAMESPACE = 'dns';

export interface PodOptions {
  /** Address in the cluster; on the network of the node, the node's. */
  readonly ip: string;
  readonly sources: VolumeSources;
  /** Variables that name what an operator has elsewhere. */
  readonly environment?: Readonly<Record<string, string>>;
}

/** A network of the engine in which pods find one another by the names of their Services, as in a cluster. */
export class Cluster {
  /** Its addresses are those that the chart's example values name. */
  static readonly SUBNET = '192.0.2.0/24';
  /** The address from which the tests ask; for pods on the network of their node, also their own. */
  static readonly NODE = '192.0.2.1';

  private readonly pods: RunningPod[] = [];
  private readonly volumes = new Set<string>();
  private readonly folder = mkdtempSync(join(tmpdir(), 'weir-cluster-'));

  private constructor(private readonly name: string) {}

  static async create(name: string): Promise<Cluster> {
    await docker(
      'network',
      'create',
      `--subnet=${Cluster.SUBNET}`,
      `--gateway=${Cluster.NODE}`,
      name,
    );
    return new Cluster(name);
  }

  /** Starts a container that is not the chart's. */
  async startOther(image: string, ip: string): Promise<void> {
    const id = await docker('run', '--detach', `--network=${this.name}`, `--ip=${ip}`, image);
    this.pods.push(new RunningPod({} as ReportedPod, id, ip));
  }

  /** Starts a pod, under the rights that the chart gives it. */
  async start(pod: ReportedPod, options: PodOptions): Promise<RunningPod> {
    const [entrypoint, ...command] = pod.command ?? [];
    const name = `${this.name}-${pod.component}-${this.pods.length}`;
    const mounts = await mountsOf(pod, options.sources, name, join(this.folder, name));
    for (const mount of mounts) {
      const [, volume] = /type=volume,src=([^,]+)/.exec(mount) ?? [];
      if (volume) this.volumes.add(volume);
    }
    const id = await docker(
      'run',
      '--detach',
      `--name=${name}`,
      ...this.networkOptions(pod, options.ip),
      ...securityOptions(pod),
      ...environmentOptions(pod, options),
      ...mounts,
      `--memory=${pod.resources.limits['memory'].toLowerCase().replace('gi', 'g').replace('mi', 'm')}`,
      ...(entrypoint === undefined ? [] : [`--entrypoint=${entrypoint}`]),
      imageOf(pod),
      ...command,
      ...(pod.args ?? []),
    );
    const running = new RunningPod(pod, id, options.ip);
    this.pods.push(running);
    return running;
  }

  async remove(): Promise<void> {
    const ids = this.pods.map(({ id }) => id);
    if (ids.length > 0) await tryDocker('rm', '--force', '--volumes', ...ids);
    if (this.volumes.size > 0) await tryDocker('volume', 'rm', ...this.volumes);
    await tryDocker('network', 'rm', this.name);
    rmSync(this.folder, { recursive: true });
  }

  private networkOptions({ hostNetwork, services }: ReportedPod, ip: string): string[] {
    if (hostNetwork) return ['--network=host'];
    const names = services.flatMap((name) => [name, `${name}.${NAMESPACE}.svc`]);
    const aliases = names.map((name) => `--network-alias=${name}`);
    return [`--network=${this.name}`, `--ip=${ip}`, ...aliases];
  }
}

/** The image that was built here, whatever registry and tag the values name. */
function imageOf({ image }: ReportedPod): string {
  const [, target] = /weir\/([a-z-]+):/.exec(image) ?? [];
  return target === undefined ? image : `weir/${target}:${version}`;
}

function securityOptions({ podSecurityContext: pod, securityContext }: ReportedPod): string[] {
  const { capabilities, readOnlyRootFilesystem, allowPrivilegeEscalation } = securityContext;
  return [
    `--user=${pod.runAsUser}:${pod.runAsGroup}`,
    ...(pod.fsGroup === undefined ? [] : [`--group-add=${pod.fsGroup}`]),
    ...(readOnlyRootFilesystem ? ['--read-only'] : []),
    ...(allowPrivilegeEscalation ? [] : ['--security-opt=no-new-privileges']),
    ...capabilities.drop.map((capability) => `--cap-drop=${capability}`),
    ...(capabilities.add ?? []).map((capability) => `--cap-add=${capability}`),
  ];
}

/** @throws Error when a Secret is missing that is not optional: the kubelet would not start the pod. */
function environmentOptions(pod: ReportedPod, { ip, sources, environment }: PodOptions): string[] {
  const variables: Record<string, string> = { ...pod.environment };
  for (const { name, valueFrom } of pod.env) {
    if (valueFrom?.fieldRef?.fieldPath.startsWith('status.podIP')) variables[name] = ip;
    const reference = valueFrom?.secretKeyRef;
    if (reference === undefined || name in variables) continue;
    const text = sources.secrets[reference.name]?.[reference.key];
    if (text !== undefined) variables[name] = text;
    else if (!reference.optional) throw new Error(`${name}: Secret ${reference.name} lacks it`);
  }
  return Object.entries({ ...variables, ...environment }).map(
    ([name, value]) => `--env=${name}=${value}`,
  );
}
