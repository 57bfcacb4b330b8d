import type { V1Container, V1PodSpec, V1PodTemplateSpec } from '@kubernetes/client-node';
import type { KubernetesObject } from '../objects/kubernetes-object.js';

/** A pod that the release runs. Each has one container. */
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

/** The pods of a release, one for each workload. @throws Error when a pod does not have exactly one container. */
export function podsOf(objects: readonly KubernetesObject[]): readonly Pod[] {
  return objects.flatMap((object) => {
    const { template, volumeClaimTemplates = [] } = (object['spec'] ?? {}) as Workload;
    if (template?.spec === undefined) return [];
    const labels = template.metadata?.labels ?? {};
    const [container, ...others] = template.spec.containers;
    if (container === undefined || others.length > 0) {
      throw new Error(`${object.kind} ${object.metadata.name} does not have exactly one container`);
    }
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
