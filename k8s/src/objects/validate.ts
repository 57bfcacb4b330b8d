import { unknownFields } from './fields.js';
import { type KubernetesObject, titleOf } from './kubernetes-object.js';
import { MODELS } from './models.js';
import { oldestKubernetesErrors } from './oldest-kubernetes.js';

/** API groups that are part of Kubernetes have no dot, or end in this. */
const isOfKubernetes = ({ apiVersion }: KubernetesObject): boolean =>
  !apiVersion.includes('.') || apiVersion.split('/')[0].endsWith('.k8s.io');

/**
 * One message for each error that Kubernetes 1.27 or 1.36 would find in an object: wrong types, missing and unknown
 * fields.
 */
export function validationErrors(object: KubernetesObject): readonly string[] {
  const known = MODELS[`${object.apiVersion} ${object.kind}`] as
    (typeof MODELS)[string] | undefined;
  const title = titleOf(object);
  if (known === undefined) return [`${title}: ${object.apiVersion} has no model in models.ts`];
  const unknown = unknownFields(object, known.fields).map((path) => `${path} does not exist`);
  const newest = [...unknown, ...schemaErrors(new known.model(object as never))];
  const oldest = isOfKubernetes(object) ? oldestKubernetesErrors(object) : [];
  return [
    ...newest.map((message) => `${title}: ${message}`),
    ...oldest.map((message) => `${title}, Kubernetes 1.27: ${message}`),
  ];
}

function schemaErrors(model: { validate(): void }): string[] {
  try {
    model.validate();
    return [];
  } catch (error) {
    return [(error as Error).message];
  }
}
