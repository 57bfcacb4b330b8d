/** A Kubernetes object that the chart makes. */
export interface KubernetesObject {
  readonly apiVersion: string;
  readonly kind: string;
  readonly metadata: {
    readonly name: string;
    readonly namespace?: string;
    readonly labels?: Readonly<Record<string, string>>;
    readonly annotations?: Readonly<Record<string, string>>;
  };
  readonly [field: string]: unknown;
}

/** For messages: `Service weir-resolver`. */
export function titleOf({ kind, metadata }: KubernetesObject): string {
  return `${kind} ${metadata.name}`;
}
