import type { V1EnvVar } from '@kubernetes/client-node';
import type { KubernetesObject } from '../objects/kubernetes-object.js';
import { type Pod, podsOf } from './pod.js';

/** Everything that a container engine needs to run the pods of a release without a cluster. */
export interface PodReport {
  readonly pods: readonly ReportedPod[];
  /** Data of the chart's Secrets in plain text: name of the Secret → key → value. */
  readonly secrets: Readonly<Record<string, Readonly<Record<string, string>>>>;
  /** Name of the ConfigMap → key → text. */
  readonly configMaps: Readonly<Record<string, Readonly<Record<string, string>>>>;
}

interface ReportedPod extends Pick<Pod, 'kind' | 'component' | 'claims'> {
  /** Names of the Services that select it. */
  readonly services: readonly string[];
  readonly image: string | undefined;
  readonly command: readonly string[] | undefined;
  readonly args: readonly string[] | undefined;
  /** As rendered. Secrets are references. */
  readonly env: readonly V1EnvVar[];
  /** Variable → value, with secrets filled in. Values that only a cluster knows are missing. */
  readonly environment: Readonly<Record<string, string>>;
  readonly probes: Readonly<Record<'startup' | 'liveness' | 'readiness', object | undefined>>;
  readonly ports: readonly object[];
  readonly podSecurityContext: object | undefined;
  readonly securityContext: object | undefined;
  readonly volumes: readonly object[];
  readonly volumeMounts: readonly object[];
  readonly hostNetwork: boolean;
  readonly terminationGracePeriodSeconds: number | undefined;
  readonly resources: object | undefined;
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

function reportPod(
  pod: Pod,
  secrets: Readonly<Record<string, Texts>>,
): Omit<ReportedPod, 'services'> {
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
  };
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
