import type { V1Container, V1PodSpec, V1PodTemplateSpec } from '@kubernetes/client-node';
import type { KubernetesObject } from '../../objects/testing/kubernetes-object.js';

/** A pod that the release runs. Its first container is that of its component. */
export interface Pod {
  /** Kind of its workload: Deployment, StatefulSet, DaemonSet or Job. */
  readonly kind: string;
  /** control-plane, resolver, block-page, migrate, postgresql or redis. */
  readonly component: string;
  readonly labels: Readonly<Record<string, string>>;
  readonly annotations: Readonly<Record<string, string>>;
  readonly spec: V1PodSpec;
  readonly container: V1Container;
  /** Names of the volume claim templates. */
  readonly claims: readonly string[];
}

interface Workload {
  readonly template?: V1PodTemplateSpec;
  readonly volumeClaimTemplates?: readonly { readonly metadata: { readonly name: string } }[];
}

/** The pods of a release, one for each workload. */
export function podsOf(objects: readonly KubernetesObject[]): readonly Pod[] {
  return objects.flatMap((object) => {
    const { template, volumeClaimTemplates = [] } = (object['spec'] ?? {}) as Workload;
    if (template?.spec === undefined) return [];
    const labels = template.metadata?.labels ?? {};
    const [container] = template.spec.containers;
    return [
      {
        kind: object.kind,
        component: labels['app.kubernetes.io/component'],
        labels,
        annotations: template.metadata?.annotations ?? {},
        spec: template.spec,
        container,
        claims: volumeClaimTemplates.map(({ metadata }) => metadata.name),
      },
    ];
  });
}
