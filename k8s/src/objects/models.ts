import {
  PrometheusRule,
  ServiceMonitor,
} from '@kubernetes-models/prometheus-operator/monitoring.coreos.com/v1';
import { DaemonSet, Deployment, StatefulSet } from 'kubernetes-models/apps/v1';
import { HorizontalPodAutoscaler } from 'kubernetes-models/autoscaling/v2';
import { Job } from 'kubernetes-models/batch/v1';
import { Ingress, NetworkPolicy } from 'kubernetes-models/networking.k8s.io/v1';
import { PodDisruptionBudget } from 'kubernetes-models/policy/v1';
import { ConfigMap, Pod, Secret, Service } from 'kubernetes-models/v1';

interface Model {
  new (data: never): { validate(): void };
}

/** API version and kind → the model with the schema, and the class of the Kubernetes client with the known fields. */
export const MODELS: Readonly<Record<string, { readonly model: Model; readonly fields: string }>> =
  {
    'apps/v1 DaemonSet': { model: DaemonSet, fields: 'V1DaemonSet' },
    'apps/v1 Deployment': { model: Deployment, fields: 'V1Deployment' },
    'apps/v1 StatefulSet': { model: StatefulSet, fields: 'V1StatefulSet' },
    'autoscaling/v2 HorizontalPodAutoscaler': {
      model: HorizontalPodAutoscaler,
      fields: 'V2HorizontalPodAutoscaler',
    },
    'batch/v1 Job': { model: Job, fields: 'V1Job' },
    'monitoring.coreos.com/v1 PrometheusRule': { model: PrometheusRule, fields: 'PrometheusRule' },
    'monitoring.coreos.com/v1 ServiceMonitor': { model: ServiceMonitor, fields: 'ServiceMonitor' },
    'networking.k8s.io/v1 Ingress': { model: Ingress, fields: 'V1Ingress' },
    'networking.k8s.io/v1 NetworkPolicy': { model: NetworkPolicy, fields: 'V1NetworkPolicy' },
    'policy/v1 PodDisruptionBudget': {
      model: PodDisruptionBudget,
      fields: 'V1PodDisruptionBudget',
    },
    'v1 ConfigMap': { model: ConfigMap, fields: 'V1ConfigMap' },
    'v1 Pod': { model: Pod, fields: 'V1Pod' },
    'v1 Secret': { model: Secret, fields: 'V1Secret' },
    'v1 Service': { model: Service, fields: 'V1Service' },
  };
