import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { run } from './run.js';

const repository = fileURLToPath(new URL('../../..', import.meta.url));

type Texts = Readonly<Record<string, string>>;

/** What `npm run chart:pods` writes: k8s/src/pods/report.ts. */
export interface RenderedPods {
  readonly pods: readonly RenderedPod[];
  /** Name → key → text. */
  readonly secrets: Readonly<Record<string, Texts>>;
  readonly configMaps: Readonly<Record<string, Texts>>;
}

/** The parts of a Kubernetes pod that the chart uses. */
export interface RenderedPod {
  readonly kind: string;
  readonly component: string;
  readonly image: string;
  readonly command?: readonly string[];
  readonly args?: readonly string[];
  readonly env: readonly EnvVar[];
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
  readonly claims: readonly string[];
  readonly volumes: readonly Volume[];
  readonly volumeMounts: readonly VolumeMount[];
  readonly services: readonly string[];
  readonly hostNetwork: boolean;
  readonly terminationGracePeriodSeconds?: number;
  readonly resources: { readonly limits: { readonly memory: string } };
}

export interface EnvVar {
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

export interface VolumeMount {
  readonly name: string;
  readonly mountPath: string;
  readonly readOnly?: boolean;
}

/** The pods that the chart makes of k8s/weir/ci/<values>-values.yaml. */
export async function renderPods(values: string): Promise<RenderedPods> {
  const folder = mkdtempSync(join(tmpdir(), 'weir-pods-'));
  const file = join(folder, 'pods.json');
  await run('npm', ['run', 'chart:pods', '--', file, values], { cwd: repository });
  const rendered = JSON.parse(readFileSync(file, 'utf8')) as RenderedPods;
  rmSync(folder, { recursive: true });
  return rendered;
}
