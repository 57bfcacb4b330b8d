import { unknownFields } from './fields.js';
import { type KubernetesObject, titleOf } from './kubernetes-object.js';
import { MODELS } from './models.js';

/** What Kubernetes would not take of an object: wrong types, missing and unknown fields. */
export function faultsOf(object: KubernetesObject): readonly string[] {
  const known = MODELS[`${object.apiVersion} ${object.kind}`] as
    (typeof MODELS)[string] | undefined;
  const title = titleOf(object);
  if (known === undefined) return [`${title}: ${object.apiVersion} is not known here`];
  const unknown = unknownFields(object, known.fields);
  return [
    ...unknown.map((path) => `${title}: ${path} is no field`),
    ...schemaFault(new known.model(object as never)).map((fault) => `${title}: ${fault}`),
  ];
}

function schemaFault(model: { validate(): void }): string[] {
  try {
    model.validate();
    return [];
  } catch (error) {
    return [(error as Error).message];
  }
}
