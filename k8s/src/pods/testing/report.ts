import type { V1EnvVar } from '@kubernetes/client-node';
import type { KubernetesObject } from '../../objects/testing/kubernetes-object.js';
import { type Pod, podsOf } from './pod.js';

/** Everything that a container engine needs to run the pods of a release without a cluster. */
export interface PodReport {
  readonly pods: readonly ReportedPod[];
  /** Data of the chart's Secrets in plain text: name of the Secret → key → value. */
  readonly secrets: Readonly<Record<string, Readonly<Record<string, string>>>>;
  /** Name of the ConfigMap → key → text. */
  readonly configMaps: Readonly<Record<string, Readonly<Record<string, string>>>>;
}

/** The parts of a Kubernetes pod that the chart uses. */
export interface ReportedPod {
  readonly kind: string;
  readonly component: string;
  readonly image: string;
  readonly command?: readonly string[];
  readonly args?: readonly string[];
  /** As rendered. Secrets are references. */
  readonly env: readonly EnvVar[];
  /** Variable → value, with secrets filled in. Values that only a cluster knows are missing. */
  readonly environment: Texts;
  readonly probes: Readonly<Partial<Record<ProbeKind, Probe>>>;
  readonly ports: readonly { readonly name: string; readonly containerPort: number }[];
  readonly podSecurityContext: {
    readonly runAsUser: number;
    readonly runAsGroup: number;
    readonly fsGroup?: number;
  };
  readonly securityContext: {
    readonly allowPrivilegeEscalation: boolean;
    readonly readOnlyRootFilesystem: boolean;
    readonly capabilities: { readonly drop: readonly string[]; readonly add?: readonly string[] };
  };
  /** Names of the volume claim templates. */
  readonly claims: readonly string[];
  readonly volumes: readonly Volume[];
  readonly volumeMounts: readonly VolumeMount[];
  /** Names of the Services that select it. */
  readonly services: readonly string[];
  readonly hostNetwork: boolean;
  readonly terminationGracePeriodSeconds?: number;
  readonly resources: { readonly limits: Texts };
}

interface EnvVar {
  readonly name: string;
  readonly valueFrom?: {
    readonly fieldRef?: { readonly fieldPath: string };
    readonly secretKeyRef?: {
      readonly name: string;
      readonly key: string;
      readonly optional?: boolean;
    };
  };
}

export type ProbeKind = 'startup' | 'liveness' | 'readiness';

export interface Probe {
  readonly httpGet?: { readonly path: string; readonly port: string };
  readonly tcpSocket?: { readonly port: string };
  readonly exec?: { readonly command: readonly string[] };
  readonly periodSeconds: number;
  readonly timeoutSeconds: number;
  readonly failureThreshold: number;
}

interface Items {
  readonly items?: readonly { readonly key: string; readonly path: string }[];
}

export interface Volume {
  readonly name: string;
  readonly emptyDir?: object;
  readonly hostPath?: object;
  readonly secret?: Items & { readonly secretName: string };
  readonly configMap?: Items & { readonly name: string };
}

interface VolumeMount {
  readonly name: string;
  readonly mountPath: string;
  readonly readOnly?: boolean;
}

type Texts = Readonly<Record<string, string>>;

export function reportPods(objects: readonly KubernetesObject[]): PodReport {
  const secrets = dataOf(objects, 'Secret', (value) => Buffer.from(value, 'base64').toString());
  const configMaps = dataOf(objects, 'ConfigMap', (value) => value);
  const pods = podsOf(objects).map((pod) => ({
    ...reportPod(pod, secrets),
    services: servicesOf(pod, objects),
  }));
  return { pods, secrets, configMaps };
}

function servicesOf(pod: Pod, objects: readonly KubernetesObject[]): string[] {
  const selecting = objects.filter(({ kind, spec }) => {
    const { selector } = (spec ?? {}) as { readonly selector?: Texts };
    if (kind !== 'Service' || selector === undefined) return false;
    return Object.entries(selector).every(([name, value]) => pod.labels[name] === value);
  });
  return selecting.map(({ metadata }) => metadata.name);
}

/** Of a pod of the chart, which has what `ReportedPod` requires. */
function reportPod(pod: Pod, secrets: Readonly<Record<string, Texts>>) {
  const { kind, component, claims, spec, container } = pod;
  const { env = [] } = container;
  return {
    kind,
    component,
    claims,
    image: container.image,
    command: container.command,
    args: container.args,
    env,
    environment: Object.fromEntries(
      env.flatMap((variable) => {
        const text = textOf(variable, secrets);
        return text === undefined ? [] : [[variable.name, text]];
      }),
    ),
    probes: {
      startup: container.startupProbe,
      liveness: container.livenessProbe,
      readiness: container.readinessProbe,
    },
    ports: container.ports ?? [],
    podSecurityContext: spec.securityContext,
    securityContext: container.securityContext,
    volumes: spec.volumes ?? [],
    volumeMounts: container.volumeMounts ?? [],
    hostNetwork: spec.hostNetwork ?? false,
    terminationGracePeriodSeconds: spec.terminationGracePeriodSeconds,
    resources: container.resources,
  } as Omit<ReportedPod, 'services'>;
}

function textOf(
  { value, valueFrom }: V1EnvVar,
  secrets: Record<string, Texts>,
): string | undefined {
  const reference = valueFrom?.secretKeyRef;
  return reference ? secrets[reference.name ?? '']?.[reference.key] : value;
}

function dataOf(
  objects: readonly KubernetesObject[],
  kind: string,
  decode: (value: string) => string,
): Record<string, Texts> {
  const ofKind = objects.filter((object) => object.kind === kind);
  return Object.fromEntries(
    ofKind.map(({ metadata, data }) => [
      metadata.name,
      Object.fromEntries(Object.entries((data ?? {}) as Texts).map(([k, v]) => [k, decode(v)])),
    ]),
  );
}
