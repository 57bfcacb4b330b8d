import { unknownFields } from './fields.js';
import { type KubernetesObject, titleOf } from './kubernetes-object.js';
import { MODELS } from './models.js';

/** One message for each error that Kubernetes would find in an object: wrong types, missing and unknown fields. */
export function validationErrors(object: KubernetesObject): readonly string[] {
  const known = MODELS[`${object.apiVersion} ${object.kind}`] as
    (typeof MODELS)[string] | undefined;
  const title = titleOf(object);
  if (known === undefined) return [`${title}: ${object.apiVersion} has no model in models.ts`];
  const unknown = unknownFields(object, known.fields);
  return [
    ...unknown.map((path) => `${title}: ${path} does not exist`),
    ...schemaErrors(new known.model(object as never)).map((message) => `${title}: ${message}`),
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
